import { StdioTransportError } from "./errors.js";
import { thisHost } from "./host-system.js";
import { endLeftovers } from "./leftovers.js";
import { isAlive, type ProcessWorld, readWorld } from "./process-identity.js";
import { readNumber } from "./read-options.js";
import { type RegistryFile, readRegistry, removeRecord } from "./registry.js";

/** A child as its record names it. The number is the one that this machine's processes had for it. */
export interface SweptChild {
  /** The command. */
  readonly pid: number;
  /** What it was started as. */
  readonly file: string;
}

/** What `sweepChildren` found. */
export interface SweepReport {
  /** Children whose host is dead: they still lived, were ended, and are confirmed to be gone. */
  readonly ended: readonly SweptChild[];
  /** Records whose processes were gone already; removed. */
  readonly gone: number;
  /** Records left alone because their host lives. */
  readonly held: number;
  /** Records of another pid namespace, of which nothing can be said from here; left alone. */
  readonly foreign: number;
  /**
   * Children whose recorded processes are gone, while processes with their session number live that cannot be proved to be
   * theirs: left alone, since the number may have been used again. Their records stay.
   */
  readonly unproven: readonly SweptChild[];
  /** Children that survived SIGKILL for `killMs`; their records stay. */
  readonly failed: readonly SweptChild[];
}

/** What `sweepChildren` accepts beside the folder. */
export interface SweepOptions {
  /** How long one child may take to be gone: 1 to 600_000 milliseconds. Default 5_000. */
  readonly killMs?: number | undefined;
  /** Ends the sweep between two children; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

type Verdict = "ended" | "gone" | "held" | "foreign" | "unproven" | "failed";

/**
 * Ends what hosts that were killed have left behind in this registry folder; call it at start. Many hosts may share the
 * folder and sweep at once. A process is ended only when its number, start time, boot and pid namespace are the recorded
 * ones, or when it shares the session of one or descends from one for which they are.
 * @throws {StdioTransportError} `PLATFORM_UNSUPPORTED` where there is no /proc; `OPTION_INVALID`; the signal's reason.
 */
export async function sweepChildren(folder: string, options: SweepOptions = {}): Promise<SweepReport> {
  const killMs = readNumber("killMs", options.killMs, { least: 1, most: 600_000, otherwise: 5_000 });
  options.signal?.throwIfAborted();
  const files = await readRegistry(folder);
  const world = readWorld();
  if (world === undefined) throw new StdioTransportError("PLATFORM_UNSUPPORTED", "a sweep needs /proc");
  const verdicts: { readonly verdict: Verdict; readonly child: SweptChild | undefined }[] = [];
  for (const file of files) {
    options.signal?.throwIfAborted();
    const verdict = await judge(file, world, killMs);
    if (verdict === "ended" || verdict === "gone") await removeRecord(file.path);
    verdicts.push({ verdict, child: file.record && { pid: file.record.command, file: file.record.file } });
  }
  const count = (wanted: Verdict): number => verdicts.filter(({ verdict }) => verdict === wanted).length;
  const list = (wanted: Verdict): readonly SweptChild[] =>
    verdicts.flatMap(({ verdict, child }) => (verdict === wanted && child !== undefined ? [child] : []));
  return {
    ended: list("ended"),
    gone: count("gone"),
    held: count("held"),
    foreign: count("foreign"),
    unproven: list("unproven"),
    failed: list("failed"),
  };
}

async function judge(file: RegistryFile, world: ProcessWorld, killMs: number): Promise<Verdict> {
  const { host, record } = file;
  if (record !== undefined && record.world.bootId !== world.bootId) return "gone";
  if (file.pidNamespace !== world.pidNamespace) return "foreign";
  if (isAlive(host.pid, host.startTime)) return "held";
  // A record that was being written when its host died: the command was not let go, so only the file can be left.
  if (record === undefined) return "gone";
  const lived = record.processes.some(({ pid, startTime }) => isAlive(pid, startTime));
  const outcome = await endLeftovers(record, "unknown", killMs, thisHost().scheduler);
  if (outcome === "alive") return "failed";
  if (outcome === "unproven") return "unproven";
  return lived ? "ended" : "gone";
}
