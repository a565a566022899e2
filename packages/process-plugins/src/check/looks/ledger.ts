import { escapeText } from "../../pipe/escape-text.js";
import type { CheckFinding } from "../check-plugin.js";

/** What is looked at, in this order; escapes follow. */
export const lookNames = [
  "manifest",
  "prepare",
  "tree",
  "confinement",
  "start",
  "protocol",
  "transcript",
  "end",
  "input-end",
] as const;

/** What was found so far. */
export interface Ledger {
  passed(name: string, seen: string, more?: FindingMore): void;
  failed(name: string, seen: string, advice: string | undefined, more?: FindingMore): void;
  skipped(name: string, seen: string, more?: FindingMore): void;
  /** All, in the order of the looks; those that were not looked at are skipped because of the first that failed. */
  findings(): readonly CheckFinding[];
}

type FindingMore = Partial<Pick<CheckFinding, "difference" | "controls">>;

/** A plugin may be quoted in it. */
const maxSeenCharacters = 2_000;

export function openLedger(): Ledger {
  const found = new Map<string, CheckFinding>();
  const add = (finding: CheckFinding): void => {
    const seen = escapeText(finding.seen);
    found.set(finding.name, {
      ...finding,
      seen: seen.length > maxSeenCharacters ? `${seen.slice(0, maxSeenCharacters)}…` : seen,
    });
  };
  return {
    passed: (name, seen, more = {}) => add({ name, outcome: "passed", seen, advice: undefined, ...more }),
    failed: (name, seen, advice, more = {}) => add({ name, outcome: "failed", seen, advice, ...more }),
    skipped: (name, seen, more = {}) => add({ name, outcome: "skipped", seen, advice: undefined, ...more }),
    findings: () => {
      const reason = [...found.values()].find(({ outcome }) => outcome === "failed")?.name;
      const looks = lookNames.map((name) => found.get(name) ?? skip(name, reason));
      const names: readonly string[] = lookNames;
      return [...looks, ...[...found.values()].filter(({ name }) => !names.includes(name))];
    },
  };
}

function skip(name: string, reason: string | undefined): CheckFinding {
  const seen = reason === undefined ? "not looked at" : `not looked at, since ${reason} failed`;
  return { name, outcome: "skipped", seen, advice: undefined };
}
