import { findNodeAtLocation, type Node, parseTree } from "jsonc-parser";

/** How the text of a document is laid out. */
interface Layout {
  /** One step of indentation. */
  readonly step: string;
  readonly lineEnd: string;
}

/**
 * The same JSON text with members of one object set, or taken out where they are undefined. Values that stay keep their own
 * text; new members go last, one a line. The object at `path` is made when its parent lacks it; the rest of the path must exist.
 */
export function setMembers(text: string, path: readonly string[], members: Readonly<Record<string, unknown>>): string {
  let edited = text;
  for (const [key, value] of Object.entries(members)) edited = setMember(edited, path, key, value);
  return edited;
}

function setMember(text: string, path: readonly string[], key: string, value: unknown): string {
  const root = parseTree(text);
  const object = root === undefined ? undefined : findNodeAtLocation(root, [...path]);
  if (object === undefined) {
    const name = path.at(-1);
    if (name === undefined) throw new Error("a document has a root");
    return value === undefined ? text : setMember(text, path.slice(0, -1), name, { [key]: value });
  }
  const layout = layoutOf(text);
  const property = object.children?.find(({ children }) => children?.[0]?.value === key);
  if (property === undefined) return value === undefined ? text : append(text, object, key, value, layout);
  return value === undefined ? without(text, object, property) : replace(text, property, value, layout);
}

function replace(text: string, property: Node, value: unknown, layout: Layout): string {
  const old = property.children?.[1];
  if (old === undefined) throw new Error("a property has a value");
  return splice(text, old.offset, endOf(old), print(value, indentAt(text, property.offset), layout));
}

function without(text: string, object: Node, property: Node): string {
  const siblings = object.children ?? [];
  const index = siblings.indexOf(property);
  const next = siblings[index + 1];
  if (next !== undefined) return splice(text, property.offset, next.offset, "");
  const before = siblings[index - 1];
  return splice(text, before === undefined ? object.offset + 1 : endOf(before), endOf(property), "");
}

function append(text: string, object: Node, key: string, value: unknown, layout: Layout): string {
  const members = object.children ?? [];
  const [first] = members;
  const last = members.at(-1);
  if (first !== undefined && last !== undefined && text.slice(object.offset, first.offset).includes("\n")) {
    const indent = indentAt(text, first.offset);
    const member = `${JSON.stringify(key)}: ${print(value, indent, layout)}`;
    return splice(text, endOf(last), endOf(last), `,${layout.lineEnd}${indent}${member}`);
  }
  const outer = indentAt(text, object.offset);
  const inner = outer + layout.step;
  const kept = members.map((member) => text.slice(member.offset, endOf(member)));
  const lines = [...kept, `${JSON.stringify(key)}: ${print(value, inner, layout)}`].map((member) => inner + member);
  const body = lines.join(`,${layout.lineEnd}`);
  return splice(text, object.offset, endOf(object), `{${layout.lineEnd}${body}${layout.lineEnd}${outer}}`);
}

function print(value: unknown, indent: string, { step, lineEnd }: Layout): string {
  return JSON.stringify(value, undefined, step).replaceAll("\n", lineEnd + indent);
}

function splice(text: string, from: number, to: number, inserted: string): string {
  return text.slice(0, from) + inserted + text.slice(to);
}

function endOf(node: Node): number {
  return node.offset + node.length;
}

/** White space at the beginning of the line of this place. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  return /^[ \t]*/u.exec(line)?.[0] ?? "";
}

/** The first indented line shows the step, for it is one level deep. */
function layoutOf(text: string): Layout {
  return { step: /\n([ \t]+)\S/u.exec(text)?.[1] ?? "  ", lineEnd: text.includes("\r\n") ? "\r\n" : "\n" };
}
