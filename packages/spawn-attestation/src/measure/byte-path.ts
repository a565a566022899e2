declare const bytes: unique symbol;

/**
 * A path as its bytes, one character a byte. Names on disk need not be UTF-8; in this form they keep every byte,
 * compare in byte order, and still work as keys.
 */
export type BytePath = string & { readonly [bytes]: true };

const branded = (latin1: string): BytePath => latin1 as BytePath;

/** The root folder. */
export const rootPath: BytePath = branded("/");

/** The measured folder itself, in paths that are relative to it. */
export const topPath: BytePath = branded("");

export function pathOfText(text: string): BytePath {
  return branded(Buffer.from(text, "utf8").toString("latin1"));
}

/** What the system gives out under the encoding `latin1`: one character a byte. */
export function pathOfLatin1(name: string): BytePath {
  return branded(name);
}

/** What file system calls take. */
export function toBuffer(path: BytePath): Buffer {
  return Buffer.from(path, "latin1");
}

/** The path as text; bytes that are not UTF-8 become U+FFFD. */
export function toText(path: BytePath): string {
  return toBuffer(path).toString("utf8");
}

export function isUtf8(path: BytePath): boolean {
  return pathOfText(toText(path)) === path;
}

/** The path for a message: control characters escaped, so that a name cannot forge a line of a log. */
export function shown(path: BytePath): string {
  return printable(toText(path));
}

/** Text for a message: control characters and line separators escaped, at most 300 characters. */
export function printable(text: string): string {
  const clipped = text.length > 300 ? `${text.slice(0, 300)}…` : text;
  return clipped.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}

/** `name` inside `folder`; an empty folder is the tree's own root. */
export function inFolder(folder: BytePath, name: BytePath): BytePath {
  if (folder === "") return name;
  return branded(folder === "/" ? `/${name}` : `${folder}/${name}`);
}

export function parentOf(path: BytePath): BytePath {
  const slash = path.lastIndexOf("/");
  if (slash < 0) return branded("");
  return slash === 0 ? rootPath : branded(path.slice(0, slash));
}

export function segmentsOf(path: BytePath): readonly BytePath[] {
  return path
    .split("/")
    .filter((segment) => segment !== "")
    .map(branded);
}

/** `path` relative to `folder`; undefined when it is not inside. Both without `..`. */
export function relativeTo(folder: BytePath, path: BytePath): BytePath | undefined {
  const prefix = folder === "/" ? "/" : `${folder}/`;
  return path.startsWith(prefix) ? branded(path.slice(prefix.length)) : undefined;
}
