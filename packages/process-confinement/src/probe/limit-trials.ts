import { readOr } from "../machine/read-or.js";
import type { ConfinementLimits, ConfinementPolicy } from "../policy.js";
import type { Sandbox } from "../sandbox.js";
import type { Seen, Trial, TrialResult } from "./try-inside.js";

/** How it is found out whether a limit is held: a short, bounded excess by the shell and the programs of every system. */
export interface LimitTrial {
  readonly value: number;
  readonly script: string;
  /** What else the sandbox gets. `folder` is one of the trial's own. */
  readonly policy?: ((folder: string) => ConfinementPolicy) | undefined;
  readonly isEnough?: Trial["isEnough"];
  readonly judge: (result: TrialResult) => TrialVerdict;
}

export interface TrialVerdict {
  readonly isHeld: boolean;
  readonly seen: string;
}

const mib = 2 ** 20;
const spin = "while :; do :; done";

/** Those that a shell can exceed; `openFiles` and `fileBytes` are among the attempts. */
export const limitTrials: Readonly<Partial<Record<keyof ConfinementLimits, LimitTrial>>> = {
  memoryBytes: {
    value: 32 * mib,
    // `tail` has to keep all of it, since only the end of a pipe tells it which part is the last.
    script: `head -c ${48 * mib} /dev/zero | tail -c ${48 * mib} >/dev/null`,
    judge: ({ exit }) => ({
      isHeld: (exit.memoryKills ?? 0) > 0,
      seen: `with a bound of 32 MiB, the kernel killed ${exit.memoryKills ?? "no known"} processes of a program that kept 48`,
    }),
  },
  processes: {
    value: 8,
    script: "i=1; while [ $i -lt 16 ]; do sleep 9 & i=$((i+1)); echo $i; done",
    // Some shells try again for seconds, but they complain at once.
    isEnough: ({ stderr }: Seen) => stderr !== "",
    judge: ({ stdout }) => {
      const most = Number(stdout.trim().split("\n").at(-1));
      return { isHeld: most === 8, seen: `with a bound of 8, ${most} processes could be had` };
    },
  },
  cpus: {
    value: 0.1,
    script: spin,
    isEnough: (_: Seen, { identity }: Sandbox) => throttledTimes(identity.controlGroups) > 0,
    judge: ({ ended }) => ({
      isHeld: ended === "enough",
      seen: ended === "enough" ? "the kernel made a busy loop wait" : "the kernel never made a busy loop wait",
    }),
  },
  cpuSeconds: {
    value: 1,
    script: spin,
    judge: ({ ended, exit }) => ({
      isHeld: ended === "itself" && exit.signal === "SIGKILL",
      seen: `with a bound of 1 s, a busy loop ended by ${exit.signal ?? "itself"}${ended === "late" ? " of the probe" : ""}`,
    }),
  },
  diskBytes: {
    value: mib,
    script: `head -c ${2 * mib} /dev/zero >/workspace/excess; exec sleep 9`,
    policy: (folder: string) => ({ workspace: { kind: "folder", source: folder } }),
    judge: (result) => {
      const verdict = endedFor("disk", "2 MiB were written with a bound of 1")(result);
      const { by } = result.enforced.find(({ limit }) => limit === "diskBytes") ?? {};
      return by === "watched-frozen" ? verdict : { ...verdict, seen: `${verdict.seen}; ${evadable}` };
    },
  },
  outputBytes: {
    value: 1_024,
    script: "head -c 4096 /dev/zero; exec sleep 9",
    judge: endedFor("output", "4096 bytes were written with a bound of 1024"),
  },
};

const evadable =
  "no control group can hold it still here, so that a program which moves its files past a look is not seen";

function endedFor(reason: "disk" | "output", what: string): LimitTrial["judge"] {
  return ({ exit }) => ({ isHeld: exit.reason === reason, seen: `${what}, and the sandbox ended for ${exit.reason}` });
}

/** How often the members of these groups, of which not all count it, had to wait for their share (sched-bwc.rst, Statistics; cgroup-v2.rst, cpu.stat). */
function throttledTimes(groups: readonly string[]): number {
  return groups.reduce(
    (sum, group) => sum + Number(/^nr_throttled (\d+)$/m.exec(readOr(`${group}/cpu.stat`, ""))?.[1] ?? 0),
    0,
  );
}
