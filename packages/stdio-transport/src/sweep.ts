/** A child as its record names it. Process numbers are those of this machine's view. */
export interface SweptChild {
  /** The command. */
  readonly pid: number;
  /** What it was started as. */
  readonly file: string;
}

/** What `sweepChildren` found. */
export interface SweepReport {
  /** Children whose host is dead and that still lived: they were ended, and their absence confirmed. */
  readonly ended: readonly SweptChild[];
  /** Records whose processes were all gone already; removed. */
  readonly gone: number;
  /** Records left alone because their host lives. */
  readonly held: number;
  /** Records of another pid namespace, of which nothing can be said from here; left alone. */
  readonly foreign: number;
  /**
   * Children of dead hosts whose command is gone, while processes with its session number live that cannot be proved to be its
   * own: never ended, since the number may have been reused. Their records stay.
   */
  readonly unproven: readonly SweptChild[];
  /** Children that could not be ended (`CHILD_NOT_ENDED`); their records stay. */
  readonly failed: readonly SweptChild[];
}

/**
 * Ends what hosts that were killed have left behind in this registry folder. Many hosts may share the folder and sweep at
 * once. A process is ended only when its number, start time, boot and pid namespace are those recorded.
 */
export async function sweepChildren(
  folder: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<SweepReport> {
  throw new Error(`not built yet: ${folder} ${options.signal?.aborted}`);
}
