// `scheme://user:password@host`: what stands before the last `@` of the authority.
const userInfo = /([a-z][a-z0-9+.-]{0,30}:\/\/)[^/?#\s]*@/gi;

/** A text whose URLs hold no user and no password. */
export function withoutCredentials(text: string): string {
  return text.replace(userInfo, "$1");
}

/** The users and passwords of the URLs in a text, as they stand there and decoded. */
export function credentialsIn(text: string): readonly string[] {
  const found: string[] = [];
  for (const [whole] of text.matchAll(userInfo)) {
    const info = whole.slice(whole.indexOf("://") + 3, -1);
    for (const part of [info, ...info.split(/:(.*)/s)]) found.push(part, decoded(part));
  }
  return [...new Set(found)].filter((part) => part.length >= 4).sort((one, other) => other.length - one.length);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // not encoded
  }
}

/** Puts ten asterisks in the place of each secret. */
export function scrubbed(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, "*".repeat(10)), withoutCredentials(text));
}
