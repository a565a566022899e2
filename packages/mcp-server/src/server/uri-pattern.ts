/** A resource template, ready to match. */
export interface UriPattern {
  readonly variables: readonly string[];
  /** The variables' values, percent-decoded; undefined when the address does not match. Linear in the address's length. */
  match(uri: string): Readonly<Record<string, string>> | undefined;
}

interface Part {
  readonly name: string;
  /** `{+name}`: the value may hold any character. */
  readonly reserved: boolean;
  /** Text up to the next variable or the end. */
  readonly after: string;
}

/**
 * Reads the part of RFC 6570 that has one reading when matched: `{name}` and `{+name}`.
 * @throws {TypeError} for other operators, variables without text between them, and repeated names; the message is for the registration report.
 */
export function readUriPattern(template: string): UriPattern {
  const [before = "", ...rest] = template.split("{");
  const parts = rest.map(readPart);
  if (parts.length === 0) throw new TypeError("the template has no variable");
  if (before.includes("}")) throw new TypeError("a } without {");
  for (const part of parts.slice(0, -1)) {
    if (part.after === "") throw new TypeError(`text is needed between {${part.name}} and the next variable`);
  }
  const variables = parts.map(({ name }) => name);
  if (new Set(variables).size < variables.length) throw new TypeError("a variable occurs twice");
  return { variables, match: (uri) => (uri.startsWith(before) ? matchParts(uri, before.length, parts) : undefined) };
}

function readPart(text: string): Part {
  const [, plus = "", name, after] = /^(\+?)(\w+)\}([^}]*)$/.exec(text) ?? [];
  if (name === undefined || after === undefined) throw new TypeError(`{${text} is neither {name} nor {+name}`);
  return { name, reserved: plus === "+", after };
}

function matchParts(uri: string, start: number, parts: readonly Part[]): Readonly<Record<string, string>> | undefined {
  const values: [string, string][] = [];
  let at = start;
  for (const [index, { name, reserved, after }] of parts.entries()) {
    const isLast = index === parts.length - 1;
    const end = isLast ? endOfLast(uri, after) : uri.indexOf(after, at + 1);
    if (end <= at) return undefined;
    const value = uri.slice(at, end);
    if (!reserved && /[/?#]/.test(value)) return undefined;
    const decoded = decode(value);
    if (decoded === undefined) return undefined;
    values.push([name, decoded]);
    at = end + after.length;
  }
  return Object.fromEntries(values);
}

function endOfLast(uri: string, after: string): number {
  return uri.endsWith(after) ? uri.length - after.length : -1;
}

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined; // a % that is no escape: no address of this template
  }
}
