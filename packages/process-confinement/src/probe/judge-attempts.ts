import type { EnforcementFinding } from "../enforcement.js";
import type { AttemptsReport } from "./attempts.js";
import type { Accepted } from "./canaries.js";
import { fails, holds, setUpInVain } from "./finding.js";

/** The same attempts inside and, as their control, outside, while the canaries were there. */
export interface AttemptsPair {
  readonly inside: AttemptsReport;
  readonly outside: AttemptsReport;
  readonly secretHash: string;
  /** What the canaries took in all: one connection each, from outside. */
  readonly accepted: Accepted;
}

/** What the attempts show. Pure. */
export function judgeAttempts(pair: AttemptsPair): readonly EnforcementFinding[] {
  return [
    ...["user", "pid", "net", "ipc", "uts", "cgroup"].map((kind) => judgeNamespace(kind, pair)),
    judgeSecret(pair),
    judgeReach("network", "the host's loopback", "loopback", pair),
    judgeReach("abstract-socket", "an abstract socket of the host", "abstract", pair),
    judgeOwnWrite(pair),
    judgeReadOnly(pair),
    judgeSeccomp(pair),
    judgePrivileges(pair),
  ];
}

function judgeNamespace(kind: string, { inside, outside }: AttemptsPair): EnforcementFinding {
  const aspect = `${kind}-namespace`;
  const [ours, theirs] = [outside.namespaces[kind], inside.namespaces[kind]];
  const seen = `inside ${theirs ?? "nothing"}, outside ${ours ?? "nothing"}`;
  const differ = ours !== undefined && theirs !== undefined && ours !== theirs;
  return differ ? holds(aspect, "bubblewrap", seen) : fails(aspect, seen, setUpInVain);
}

function judgeSecret({ inside, outside, secretHash }: AttemptsPair): EnforcementFinding {
  if (outside.secret !== secretHash) return controlFailed("secret", `outside, the secret gave ${outside.secret}`);
  if (!isError(inside.secret)) return fails("secret", "a file of the host was read inside", setUpInVain);
  return holds("secret", "bubblewrap", `a file that the host reads gives ${inside.secret} inside`);
}

function judgeReach(
  aspect: string,
  place: string,
  which: "loopback" | "abstract",
  { inside, outside, accepted }: AttemptsPair,
): EnforcementFinding {
  if (outside[which] !== "ok") return controlFailed(aspect, `outside, connecting gave ${outside[which]}`);
  const strangers = accepted[which] - 1;
  if (inside[which] === "ok" || strangers > 0) return fails(aspect, `${place} was reached from inside`, setUpInVain);
  return holds(aspect, "bubblewrap", `${place}, which the host reaches, gives ${inside[which]} inside`);
}

function judgeOwnWrite({ inside }: AttemptsPair): EnforcementFinding {
  if (inside.ownWrite === "ok") return holds("own-write", "bubblewrap", "what was written to the workspace came back");
  // Without it, a sandbox in which nothing works at all would look perfectly tight.
  return fails("own-write", `writing to the workspace gave ${inside.ownWrite}`, {
    cause: "the sandbox may not write where it should",
    cure: "look at the options and the owner of what is mounted at the workspace",
  });
}

function judgeReadOnly({ inside, outside }: AttemptsPair): EnforcementFinding {
  if (outside.readOnlyWrite !== "ok")
    return controlFailed("read-only", `outside, writing to the folder gave ${outside.readOnlyWrite}`);
  if (inside.readOnlyWrite === "ok") return fails("read-only", "a read-only folder was written", setUpInVain);
  return holds("read-only", "bubblewrap", `a folder that the host writes gives ${inside.readOnlyWrite} inside`);
}

function judgeSeccomp({ inside, outside }: AttemptsPair): EnforcementFinding {
  const [ours, added] = [outside, inside].map(({ status }) => Number(status["Seccomp_filters"] ?? status["Seccomp"]));
  const seen = `changing the layout of memory is ${inside.personality} inside and ${outside.personality} outside, with ${added} and ${ours} filters`;
  if (inside.personality === "refused" && Number(added) > Number(ours)) return holds("seccomp", "seccomp", seen);
  if (inside.personality === "ok" || inside.personality === "refused") return fails("seccomp", seen, setUpInVain);
  return fails("seccomp", seen, {
    cause: "setarch, by which a forbidden call is made, could not be started inside",
    cure: "install util-linux",
  });
}

function judgePrivileges({ inside: { status } }: AttemptsPair): EnforcementFinding {
  const { CapEff: capabilities = "?", NoNewPrivs: noNew = "?" } = status;
  const seen = `inside, NoNewPrivs is ${noNew} and CapEff is ${capabilities}`;
  const hasNone = noNew === "1" && /^0+$/.test(capabilities);
  return hasNone ? holds("privileges", "bubblewrap", seen) : fails("privileges", seen, setUpInVain);
}

/** A name of an error and not a digest; what else comes back has not been refused. */
function isError(outcome: string): boolean {
  return /^E[A-Z0-9]+$/.test(outcome);
}

function controlFailed(aspect: string, seen: string): EnforcementFinding {
  return fails(aspect, seen, {
    cause: "the attempt fails outside as well, so that its failure inside shows nothing",
    cure: "let the host itself write to /var/tmp and connect to its own loopback",
  });
}
