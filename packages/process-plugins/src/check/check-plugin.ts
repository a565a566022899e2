import type { InstanceOptions } from "../instance/instance.js";

/** What `checkPlugin` accepts. */
export interface CheckOptions
  extends Pick<InstanceOptions, "interpreters" | "readOnly" | "allowUnconfined" | "timeouts" | "limits"> {
  /** The plugin's folder. It is copied, and only the copy is used. */
  readonly folder: string;
  /**
   * A command that is run in the copy before it is measured, without a shell; it fills what is not committed. It runs with the rights and the
   * environment of this process, **outside** of any sandbox. Default: `prepare` of the plugin's `check.json`; `false` runs none.
   */
  readonly prepare?: readonly string[] | false | undefined;
  /** 1 to 86_400_000 milliseconds. Default 600_000. Then `prepare` has failed. */
  readonly prepareTimeoutMs?: number | undefined;
  /** Writes `expected.jsonl` into `folder` instead of comparing with it. Default false. */
  readonly record?: boolean | undefined;
  /**
   * Also tries the escapes. Each has a control that must succeed: for these the plugin, and the attempts of the kit of process-confinement, run with the
   * rights of this user **outside** of any sandbox. `own`: only those that the plugin makes itself, which takes seconds; `true`: also the kit, which takes a
   * minute. Default false.
   */
  readonly escapes?: boolean | "own" | undefined;
  /** Told of each step when it begins. Must not throw. */
  readonly onStep?: ((step: string) => void) | undefined;
  readonly onLog?: InstanceOptions["onLog"];
  readonly signal?: AbortSignal | undefined;
}

/** One of the things that a check looks at. */
export interface CheckFinding {
  /**
   * `manifest`, `prepare`, `tree`, `confinement`, `start`, `protocol` (whether each answer is one that PROTOCOL.md allows), `transcript`, `end` (after
   * `destroy`), `input-end` (when its host is gone), or `escape:ID`: `escape_secrets` and `escape_network`, the plugin's own tools; `plugin/ID`, what
   * its tool `escape_attempt` tries, where it has it; `ID`, the attempts of `@berth/process-confinement/escapes` in the same sandbox.
   */
  readonly name: string;
  readonly outcome: "passed" | "failed" | "skipped";
  /** What was seen, one sentence. */
  readonly seen: string;
  /** What to do where it failed. */
  readonly advice: string | undefined;
  /** Of a transcript that differs: the number of the line (from 1), what was expected, what came. */
  readonly difference?:
    | { readonly line: number; readonly expected: string | undefined; readonly received: string | undefined }
    | undefined;
  /** Of an escape: each control, and whether it held. */
  readonly controls?: readonly { readonly name: string; readonly held: boolean; readonly seen: string }[] | undefined;
}

/** All findings, in order; those that could not be looked at because of an earlier one are `skipped`. */
export interface CheckReport {
  readonly ok: boolean;
  readonly plugin: string | undefined;
  readonly digest: string | undefined;
  readonly findings: readonly CheckFinding[];
  /** The transcript that was written, with `record`. */
  readonly recorded: string | undefined;
}
