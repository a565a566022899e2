import type { ConfinementLimits } from "../policy.js";

/** Limits of each process, as setrlimit(2) has them; `processes` counts a user namespace when it is set inside of it. */
export type Rlimits = Pick<ConfinementLimits, "cpuSeconds" | "fileBytes" | "openFiles" | "processes">;

/** Reads the hard limits of `/proc/self/limits` (proc(5)), which nothing that is started here can exceed. */
export function readCeilings(ownLimits: string): Rlimits {
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

/** Whether a shell's `ulimit` can say the size; if not, `prlimit` of util-linux must. */
export function isWholeBlocks(bytes: number): boolean {
  return bytes % blockBytes === 0;
}

/** Commands of the shell that set these limits for itself and for what it becomes; each may fail. */
export function ulimitCommands({ cpuSeconds, fileBytes, openFiles, processes }: Rlimits): readonly string[] {
  return [
    ...(cpuSeconds === undefined ? [] : [`ulimit -t ${cpuSeconds}`]),
    ...(fileBytes === undefined || !isWholeBlocks(fileBytes) ? [] : [`ulimit -f ${fileBytes / blockBytes}`]),
    // A core file is made by the kernel itself, past every filter: an entry without content where nothing may be written.
    ...(fileBytes === 0 ? ["ulimit -c 0"] : []),
    ...(openFiles === undefined ? [] : [`ulimit -n ${openFiles}`]),
    // bash and dash have different letters for RLIMIT_NPROC.
    ...(processes === undefined ? [] : [`{ ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes}; }`]),
  ];
}
