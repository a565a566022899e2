import { AttestationError } from "../errors.js";
import { type BytePath, pathOfText, printable, segmentsOf } from "./byte-path.js";

/** A parsed glob: its segments, where `**` stands for any number of whole segments, also none. */
export interface Glob {
  readonly text: string;
  readonly segments: readonly string[];
}

const maxGlobs = 64;
const maxGlobLength = 256;

/**
 * Reads ignore globs: `/` separates, `*` is any run within a name, `**` any number of whole names; the rest is literal.
 * Duplicates are dropped and the order is that of their bytes, as in the digest.
 * @throws {AttestationError} `IGNORE_INVALID`; the characters `? [ ] { } ! \` are refused, since others read them as more.
 */
export function readGlobs(texts: readonly string[]): readonly Glob[] {
  if (texts.length > maxGlobs) throw invalid(`${texts.length} globs`, `at most ${maxGlobs} are allowed`);
  const unique = new Map(texts.map((text) => [pathOfText(text), readGlob(text)]));
  return [...unique.keys()].sort(byBytes).flatMap((key) => unique.get(key) ?? []);
}

/** Whether one of the globs matches this path, which is relative to the measured folder. */
export function matches(globs: readonly Glob[], path: BytePath): boolean {
  if (globs.length === 0) return false;
  const segments = segmentsOf(path);
  return globs.some((glob) => matchesSegments(glob.segments, segments));
}

/** Whether the path or a folder on its way is matched: then it is outside the digest. */
export function isIgnored(globs: readonly Glob[], path: BytePath): boolean {
  const segments = segmentsOf(path);
  return segments.some((_, index) =>
    globs.some((glob) => matchesSegments(glob.segments, segments.slice(0, index + 1))),
  );
}

function byBytes(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function readGlob(text: string): Glob {
  const fault = faultOf(text);
  if (fault !== undefined) throw invalid(JSON.stringify(printable(text)), fault);
  return { text, segments: pathOfText(text).split("/") };
}

function faultOf(text: string): string | undefined {
  if (text === "" || text.length > maxGlobLength) return `a glob has 1 to ${maxGlobLength} characters`;
  if (/[?[\]{}!\\\0]/.test(text)) return "only * and ** are special; ? [ ] { } ! \\ are not supported";
  const segments = text.split("/");
  if (segments.some((segment) => segment === "")) return "write it relative to the folder, without an empty name";
  if (segments.some((segment) => segment === "." || segment === "..")) return "a glob has no . or .. names";
  if (segments.some((segment) => segment.includes("**") && segment !== "**")) return "** stands alone between slashes";
  return undefined;
}

function invalid(what: string, why: string): AttestationError {
  return new AttestationError("IGNORE_INVALID", `measureIgnore: ${what} cannot be used: ${why}`, {
    advice: 'write measureIgnore as paths below the measured folder, such as "data" or "**/*.log"',
  });
}

/** Going back only to the last `**` is enough, and keeps the time at the product of both lengths. */
function matchesSegments(pattern: readonly string[], path: readonly string[]): boolean {
  let at = 0;
  let resume: { readonly pattern: number; readonly path: number } | undefined;
  let next = 0;
  while (at < path.length) {
    const want = pattern[next];
    if (want === "**") {
      resume = { pattern: next, path: at };
      next += 1;
    } else if (want !== undefined && matchesName(want, path[at] ?? "")) {
      next += 1;
      at += 1;
    } else if (resume !== undefined) {
      at = resume.path + 1;
      next = resume.pattern + 1;
      resume = { pattern: resume.pattern, path: at };
    } else return false;
  }
  return pattern.slice(next).every((rest) => rest === "**");
}

/** The same walk within one name, for `*`. */
function matchesName(pattern: string, name: string): boolean {
  let at = 0;
  let next = 0;
  let star = -1;
  let taken = 0;
  while (at < name.length) {
    if (pattern[next] === "*") {
      star = next;
      taken = at;
      next += 1;
    } else if (pattern[next] === name[at]) {
      next += 1;
      at += 1;
    } else if (star >= 0) {
      taken += 1;
      at = taken;
      next = star + 1;
    } else return false;
  }
  return /^\**$/.test(pattern.slice(next));
}
