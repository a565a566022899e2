import type { CheckFinding } from "../check-plugin.js";
import type { PluginAttempt } from "./attempt.js";
import type { Trial, Tried } from "./try-attempts.js";

type Control = NonNullable<CheckFinding["controls"]>[number];

/** What an attempt shows. `inconclusive`: a control did not hold, so that a refusal means nothing. */
export interface Verdict {
  readonly outcome: "refused" | "escaped" | "inconclusive" | "unsupported";
  readonly seen: string;
  readonly controls: readonly Control[];
}

/** A refusal counts only when everything held that shows that the attempt can succeed. Pure. */
export function judgeAttempt(attempt: PluginAttempt, confined: Trial, unwrapped: Trial): Verdict {
  const inside = confined.tried.get(attempt.id);
  const outside = unwrapped.tried.get(attempt.id);
  if (inside === undefined) return { outcome: "unsupported", seen: `the plugin has no ${attempt.tool}`, controls: [] };
  if (inside.said.some(({ outcome }) => outcome === "unsupported")) {
    return { outcome: "unsupported", seen: "the plugin cannot express it", controls: [] };
  }
  if (confined.ownWrite === undefined) {
    const seen = "the plugin has no escape_secrets, which writes a file of its own: without it a refusal means nothing";
    return { outcome: "unsupported", seen, controls: [] };
  }
  const controls = controlsOf(attempt, inside, outside, confined.ownWrite);
  const unheld = controls.filter(({ held }) => !held);
  if (succeeded(attempt, inside, "any")) return { outcome: "escaped", seen: `it succeeded: ${told(inside)}`, controls };
  if (unheld.length === 0) return { outcome: "refused", seen: `refused: ${told(inside)}`, controls };
  const why = unheld.map(({ name, seen }) => `${name} (${seen})`).join(", ");
  return { outcome: "inconclusive", seen: `it shows nothing, since a control did not hold: ${why}`, controls };
}

function controlsOf(
  attempt: PluginAttempt,
  inside: Tried,
  outside: Tried | undefined,
  ownWrite: boolean,
): readonly Control[] {
  const answered = inside.said.every(({ outcome }) => outcome !== "silent");
  const free = outside !== undefined && succeeded(attempt, outside, "all");
  const controls: (Control | undefined)[] = [
    {
      name: "own-write",
      held: ownWrite,
      seen: ownWrite
        ? "confined, it wrote and read a file of its own"
        : "confined, it did not write and read a file of its own",
    },
    { name: "answered", held: answered, seen: told(inside) },
    control("host-reads", inside.hostReads, "this machine read the secret, before and after"),
    control("host-reaches", inside.hostReaches, "this machine reached the listener, before and after"),
    control("no-arrival", inside.seen === undefined ? undefined : !inside.seen, "nothing arrived at this machine"),
    {
      name: "without-protection",
      held: free,
      seen: outside === undefined ? "it was not tried without the sandbox" : `without the sandbox: ${told(outside)}`,
    },
  ];
  return controls.filter((each) => each !== undefined);
}

function control(name: string, held: boolean | undefined, what: string): Control | undefined {
  if (held === undefined) return undefined;
  return { name, held, seen: held ? what : `not so: ${what}` };
}

/**
 * What this machine can see for itself goes before what a plugin says: who sends a datagram, or reaches a loopback of its own, does not
 * know better. Else any success inside is one; the control needs all, with the right content.
 */
function succeeded({ reads }: PluginAttempt, { said, seen }: Tried, needed: "any" | "all"): boolean {
  if (seen !== undefined) return seen;
  if (needed === "any") return said.some(({ outcome }) => outcome === "succeeded");
  return said.every(
    ({ outcome, sha256 }, index) => outcome === "succeeded" && (reads === undefined || sha256 === reads[index]),
  );
}

function told({ said, seen }: Tried): string {
  const words = said.map(({ outcome, name }) => (name === undefined || name === "" ? outcome : `${outcome} (${name})`));
  if (seen === true) return `${words.join(", ")}, and it was seen at this machine`;
  const claims = seen === false && said.some(({ outcome }) => outcome === "succeeded");
  return claims ? "it says succeeded, and nothing arrived" : words.join(", ");
}
