/** What every measurement in a thread shares. */
export interface MeasureTools {
  readonly maxFileBytes: number;
  readonly maxTreeBytes: number;
  readonly maxEntries: number;
  /** Reused for every file. */
  readonly buffer: Buffer;
  /** When the measurement began, on the clock that file systems use. */
  readonly startedNs: bigint;
}

/** What a thread works with: its machine, its bounds, and what it knows from before. */
export interface MeasureContext {
  readonly platform: string;
  readonly tools: MeasureTools;
  /** Digests of large files by identity. */
  readonly known: ReadonlyMap<string, string>;
  /** Those that this job adds. */
  readonly learned: Map<string, string>;
}
