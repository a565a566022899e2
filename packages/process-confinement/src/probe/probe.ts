import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import type { EnforcementFinding, EnforcementReport, ProbeOptions } from "../enforcement.js";
import { type ConfinementError, isConfinementError } from "../errors.js";
import { sweepControlGroups } from "../limits/sweep-groups.js";
import { type ConfinementHost, thisHost } from "../start/host.js";
import { type HostTools, refuseHere } from "../start/refuse-here.js";
import { readKernelSettings, whyNoSandbox } from "../start/why-no-sandbox.js";
import { baseAspects, hostDeathAspects, limitAspects } from "./aspects.js";
import { readBubblewrapVersion } from "./bubblewrap-version.js";
import { fails, holds, type Remedy, untried } from "./finding.js";
import { type ProbeScope, readScope } from "./read-scope.js";
import { type PlannedTrial, runTrials } from "./run-trials.js";
import { sweepScratch } from "./scratch.js";
import { tryAttempts } from "./try-attempts.js";
import { tryHostDeath } from "./try-host-death.js";
import { tryInterpreter } from "./try-interpreter.js";
import { tryLimit } from "./try-limit.js";

/**
 * Finds out what this machine really enforces, by trying: sandboxes are opened as `openSandbox` opens them, and what must not
 * be possible is attempted inside, while the same attempts succeed outside. What could not be tried counts as not holding.
 * Takes a second and a half, of which `cpuSeconds` takes one, leaves nothing behind, and does not reject for what it finds.
 * @throws {ConfinementError} `SANDBOX_OPTION_INVALID`. Also the signal's reason.
 */
export async function probe(options: ProbeOptions = {}): Promise<EnforcementReport> {
  return probeOn(thisHost(), readScope(options, limitAspects));
}

/** What of bubblewrap's own words a finding holds. */
const maxCauseLength = 400;

/** As `probe`, on a machine that is passed in. */
export async function probeOn(host: ConfinementHost, scope: ProbeScope): Promise<EnforcementReport> {
  const { signal } = scope;
  signal?.throwIfAborted();
  const tools = toolsOf(host);
  if (isConfinementError(tools)) return blocked(undefined, notHere(tools), scope);
  sweepControlGroups("probe");
  sweepScratch(["/var/tmp", tmpdir()], Date.now());
  const version = await readBubblewrapVersion(tools.bubblewrap, signal);
  const run = `${process.pid}-${randomBytes(6).toString("hex")}`;
  const [attempts, others] = await Promise.all([
    runTrials([{ aspects: ["sandbox"], run: () => tryAttempts(host, `probe-${run}-attempts`, signal) }], signal),
    runTrials(planOthers(host, run, scope), signal),
  ]);
  const silence = attempts.find(({ aspect }) => aspect === "sandbox");
  if (silence === undefined) return report(version, [judgeVersion(version), ...attempts, ...others], scope);
  return blocked(version, obstacleIn(silence.cause ?? ""), scope);
}

function toolsOf(host: ConfinementHost): HostTools | ConfinementError {
  try {
    return refuseHere(host);
  } catch (error) {
    if (isConfinementError(error)) return error;
    throw error;
  }
}

function planOthers(host: ConfinementHost, run: string, scope: ProbeScope): readonly PlannedTrial[] {
  const { limits, interpreter, signal } = scope;
  const name = (part: string): string => `probe-${run}-${part}`;
  return [
    { aspects: hostDeathAspects, run: () => tryHostDeath(host, name("host-death"), signal) },
    ...(interpreter === undefined
      ? []
      : [{ aspects: ["interpreter"], run: () => tryInterpreter(host, name("interpreter"), interpreter, signal) }]),
    ...limits.map((limit) => ({ aspects: [limit], run: () => tryLimit(host, name(limit), limit, signal) })),
  ];
}

function notHere({ message, cure = "run on Linux, on x64 or arm64" }: ConfinementError): Obstacle {
  return { aspect: "bubblewrap", cause: message, cure };
}

function obstacleIn(words: string): Obstacle {
  const byHand = "start bwrap by hand to see what it lacks: bwrap --unshare-all --ro-bind / / --proc /proc true";
  const unknown = { aspect: "bubblewrap", cause: words.slice(0, maxCauseLength), cure: byHand };
  return whyNoSandbox(words, readKernelSettings()) ?? unknown;
}

function judgeVersion(version: string | undefined): EnforcementFinding {
  if (version !== undefined) return thereIs(version);
  return fails("bubblewrap", "bwrap --version told no version", {
    cause: "what is installed as bwrap is not bubblewrap, or cannot be started",
    cure: "install it: apt-get install bubblewrap",
  });
}

function thereIs(version: string): EnforcementFinding {
  return holds("bubblewrap", "bubblewrap", `version ${version} is there`);
}

const unfinished: Remedy = {
  cause: "its trial did not come to an end",
  cure: "try again; then see what else runs on this machine",
};

/** In the order of the aspects; the first finding of each counts, and one without any was not tried. */
function report(
  bubblewrap: string | undefined,
  found: readonly EnforcementFinding[],
  scope: ProbeScope,
  otherwise: Remedy = unfinished,
): EnforcementReport {
  const pick = (aspect: string): EnforcementFinding =>
    found.find((one) => one.aspect === aspect) ?? untried(aspect, otherwise);
  const asked = scope.interpreter === undefined ? baseAspects : [...baseAspects, "interpreter"];
  const [bases, ofLimits] = [asked.map(pick), scope.limits.map(pick)];
  return {
    usable: bases.every((finding) => finding.holds),
    bubblewrap,
    limits: scope.limits.filter((_, index) => ofLimits[index]?.holds === true),
    findings: [...bases, ...ofLimits],
  };
}

interface Obstacle extends Remedy {
  readonly aspect: string;
}

/** The one thing that is known to be at fault, and that nothing else could be tried because of it. */
function blocked(version: string | undefined, { aspect, cause, cure }: Obstacle, scope: ProbeScope): EnforcementReport {
  const found = [
    fails(aspect, "no sandbox came up", { cause, cure }),
    ...(version === undefined ? [] : [thereIs(version)]),
  ];
  return report(version, found, scope, { cause: `no sandbox can be opened here: ${cause}`, cure });
}
