import type { LimitPlan, Rlimits } from "./plan.js";

/** Hard limits of this process, which nothing that it starts can exceed; undefined where there is none. */
export interface Ceilings {
  readonly cpuSeconds: number | undefined;
  readonly fileBytes: number | undefined;
  readonly openFiles: number | undefined;
}

/** Reads `/proc/self/limits` (proc(5)). */
export function readCeilings(ownLimits: string): Ceilings {
  return {
    cpuSeconds: hardLimit(ownLimits, "Max cpu time"),
    fileBytes: hardLimit(ownLimits, "Max file size"),
    openFiles: hardLimit(ownLimits, "Max open files"),
  };
}

function hardLimit(text: string, title: string): number | undefined {
  const line = text.split("\n").find((one) => one.startsWith(title));
  const hard = line?.slice(title.length).trim().split(/\s+/)[1];
  return hard === undefined || !/^\d+$/.test(hard) ? undefined : Number(hard);
}

/** POSIX's unit of `ulimit -f`. */
const blockBytes = 512;

/** Whether a shell's `ulimit` can say the size; if not, `prlimit` must. */
export function isWholeBlocks(bytes: number): boolean {
  return bytes % blockBytes === 0;
}

/** Commands of the shell that set these limits for itself and for what it becomes; each may fail. */
export function ulimitCommands({ cpuSeconds, fileBytes, openFiles }: Rlimits): readonly string[] {
  return [
    ...(cpuSeconds === undefined ? [] : [`ulimit -t ${cpuSeconds}`]),
    ...(fileBytes === undefined || !isWholeBlocks(fileBytes) ? [] : [`ulimit -f ${fileBytes / blockBytes}`]),
    ...(openFiles === undefined ? [] : [`ulimit -n ${openFiles}`]),
  ];
}

/**
 * Goes before the first process inside when `processes` is held by an rlimit; empty otherwise. Needs `/bin/sh` inside.
 * bash and dash have different letters for RLIMIT_NPROC.
 */
export function innerPrefix({ innerProcesses: most }: LimitPlan): readonly string[] {
  if (most === undefined) return [];
  return ["/bin/sh", "-c", `{ ulimit -u ${most} 2>/dev/null || ulimit -p ${most}; } || exit 125; exec "$@"`, "sh"];
}
