/** What happens to plugins, for a log: digests, sizes and reasons, never what a plugin was asked or wrote. */
export type PluginEvent =
  /** Measured and let to run; written before the spawn. */
  | (Subject & {
      readonly type: "plugin.admitted";
      readonly digest: string;
      readonly files: number;
      readonly bytes: number;
      readonly confinement: "bubblewrap" | "unconfined";
      readonly limits: readonly string[];
    })
  /** Not let to run. */
  | {
      readonly type: "plugin.rejected";
      readonly plugin: string;
      readonly code: string;
      readonly problems: readonly string[];
      readonly expected?: string | undefined;
      readonly measured?: string | undefined;
    }
  /** Created and started. */
  | (Subject & { readonly type: "plugin.started"; readonly pid: number | undefined; readonly startMs: number })
  | (Subject & {
      readonly type: "plugin.ended";
      readonly reason: string;
      readonly code: number | undefined;
      readonly signal: string | undefined;
      readonly confirmed: boolean;
      readonly stderrBytes: number;
    })
  /** Too many ends of its own in too short a time: no new instance until `release`. */
  | {
      readonly type: "plugin.quarantined";
      readonly plugin: string;
      readonly crashes: number;
      readonly withinMs: number;
    }
  | { readonly type: "plugin.released"; readonly plugin: string };

interface Subject {
  readonly plugin: string;
  readonly version: string;
  readonly instance: string;
}
