import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import type { EnforcementFinding } from "../enforcement.js";
import type { ConfinementLimits } from "../policy.js";
import type { ConfinementHost } from "../start/host.js";
import { fails, holds, type Remedy, setUpInVain } from "./finding.js";
import { limitTrials } from "./limit-trials.js";
import { scratchFolder } from "./scratch.js";
import { tryInside } from "./try-inside.js";

/** Exceeds a limit in a sandbox of its own; nothing is found of one that has no trial. */
export async function tryLimit(
  host: ConfinementHost,
  name: string,
  limit: keyof ConfinementLimits,
  signal: AbortSignal | undefined,
): Promise<readonly EnforcementFinding[]> {
  const trial = limitTrials[limit];
  if (trial === undefined) return [];
  const folder = scratchFolder(tmpdir(), "limit");
  try {
    const policy = { ...trial.policy?.(folder), limits: { [limit]: trial.value } };
    const args = ["-c", trial.script];
    const result = await tryInside(host, { name, file: "/bin/sh", args, policy, isEnough: trial.isEnough }, signal);
    const { isHeld, seen } = trial.judge(result);
    if (!isHeld && result.ended === "late") return [fails(limit, seen, tooSlow)];
    const by = result.enforced.find((one) => one.limit === limit)?.by ?? "unknown";
    return [isHeld ? holds(limit, by, seen) : fails(limit, seen, setUpInVain)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const tooSlow: Remedy = {
  cause: "its trial had not come to an end after 10 s: nothing held it, or the machine is too busy to tell",
  cure: "try again on a quiet machine",
};
