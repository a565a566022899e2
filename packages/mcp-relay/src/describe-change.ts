import { type JsonNode, printCanonical, readJsonNode, stringOf } from "./json-node.js";
import { visibleText } from "./visible-text.js";

/** Unchanged text that is shown on both sides of a difference. */
const contextLength = 40;
/** Longest single value that is shown. */
const maxShown = 2_000;

/**
 * Lines for a person that say how a definition changed: `+` added, `-` removed, `~` changed, each with the path of the member. Text that a
 * terminal would act on or not show is written as `\u{…}`, so that nothing hides from the reader. Undefined stands for "did not exist".
 *
 * @throws {RelayError} `DEFINITION_INVALID` when a text is no JSON.
 */
export function describeDefinitionChange(before: string | undefined, after: string | undefined): string[] {
  const lines: string[] = [];
  describe(
    "",
    before === undefined ? undefined : readJsonNode(before),
    after === undefined ? undefined : readJsonNode(after),
    lines,
  );
  return lines;
}

/** The same for plain text, such as a server's instructions. */
export function describeTextChange(path: string, before: string | undefined, after: string | undefined): string[] {
  if (before === after) return [];
  if (before === undefined) return [`+ ${path}: ${shown(JSON.stringify(after))}`];
  if (after === undefined) return [`- ${path}: ${shown(JSON.stringify(before))}`];
  const [was, is] = differingParts(before, after);
  return [`~ ${path}`, `    was ${shown(was)}`, `    is  ${shown(is)}`];
}

function describe(path: string, before: JsonNode | undefined, after: JsonNode | undefined, lines: string[]): void {
  if (before?.kind === "object" && after?.kind === "object") {
    for (const name of new Set([...before.members.keys(), ...after.members.keys()])) {
      describe(memberPath(path, name), before.members.get(name), after.members.get(name), lines);
    }
  } else if (before?.kind === "array" && after?.kind === "array") {
    const length = Math.max(before.items.length, after.items.length);
    for (let index = 0; index < length; index += 1) {
      describe(`${path}[${index}]`, before.items[index], after.items[index], lines);
    }
  } else lines.push(...leafLines(path === "" ? "definition" : path, before, after));
}

function leafLines(path: string, before: JsonNode | undefined, after: JsonNode | undefined): string[] {
  const was = before && printCanonical(before);
  const is = after && printCanonical(after);
  if (was === is) return [];
  if (was === undefined) return [`+ ${path}: ${shown(is ?? "")}`];
  if (is === undefined) return [`- ${path}: ${shown(was)}`];
  const [wasText, isText] = [stringOf(before), stringOf(after)];
  if (wasText !== undefined && isText !== undefined) return describeTextChange(path, wasText, isText);
  return [`~ ${path}: ${shown(was)} became ${shown(is)}`];
}

/** Both texts quoted, without the long stretches that they share. */
function differingParts(before: string, after: string): [string, string] {
  const limit = Math.min(before.length, after.length);
  let head = 0;
  while (head < limit && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < limit - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const from = Math.max(0, head - contextLength);
  const cut = (text: string): string => {
    const to = Math.min(text.length, text.length - tail + contextLength);
    return `${from > 0 ? "…" : ""}${JSON.stringify(text.slice(from, to))}${to < text.length ? "…" : ""}`;
  };
  return [cut(before), cut(after)];
}

function memberPath(path: string, name: string): string {
  const plain = /^[A-Za-z_$][\w$]*$/.test(name);
  if (plain) return path === "" ? name : `${path}.${name}`;
  return `${path}[${visibleText(JSON.stringify(name))}]`;
}

function shown(text: string): string {
  const cut = text.length > maxShown ? `${text.slice(0, maxShown)}… (${text.length} characters)` : text;
  return visibleText(cut);
}
