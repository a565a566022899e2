/** What a text is as JSON; undefined when it is none, for instance because it was cut short. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the caller says what that means
  }
}
