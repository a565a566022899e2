import type { CheckFinding } from "../check-plugin.js";

/** Where two transcripts part. `line` counts from 1, without the header. */
export type TranscriptDifference = NonNullable<CheckFinding["difference"]>;

/** Characters of a line that are shown around the place where two lines part. */
const shownCharacters = 2_000;

/** The first line that is not the same, or that one of them does not have. */
export function firstDifference(
  expected: readonly string[],
  received: readonly string[],
): TranscriptDifference | undefined {
  const longer = Math.max(expected.length, received.length);
  for (let index = 0; index < longer; index++) {
    const [one, other] = [expected[index], received[index]];
    if (one === other) continue;
    const place = placeOf(one ?? "", other ?? "");
    return { line: index + 1, expected: shown(one, place), received: shown(other, place) };
  }
  return undefined;
}

/** One sentence about it. */
export function describeDifference({ line, expected, received }: TranscriptDifference, total: number): string {
  if (expected === undefined) return `line ${line} is one more than the ${total} of expected.jsonl`;
  if (received === undefined) return `line ${line} of expected.jsonl did not come`;
  return `line ${line} differs`;
}

/** The index of the first character that differs. */
function placeOf(one: string, other: string): number {
  let place = 0;
  while (place < one.length && one[place] === other[place]) place++;
  return place;
}

function shown(line: string | undefined, place: number): string | undefined {
  if (line === undefined) return undefined;
  const from = Math.max(0, Math.min(place - shownCharacters / 4, line.length - shownCharacters));
  const part = line.slice(from, from + shownCharacters);
  const isCut = part.length < line.length;
  return visible(isCut ? `${from > 0 ? "…" : ""}${part}${from + part.length < line.length ? "…" : ""}` : part);
}

/** A plugin's text may hold what a terminal obeys or what turns the direction of writing: JSON lets most of it pass. */
export function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}
