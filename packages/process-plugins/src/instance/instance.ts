import type { JsonObject, Scheduler } from "@berth/jsonrpc-framing";
import type { ConfinementLimits } from "@berth/process-confinement";
import type { Measurer } from "@berth/spawn-attestation";
import type { Transport } from "@berth/stdio-transport";
import type { InspectedPlugin } from "../tree/inspected-plugin.js";
import type { PluginEvent } from "./plugin-event.js";

/** Where an instance is in its life (PROTOCOL.md § 4). `failed` and `destroyed` are final. */
export type InstanceState = "spawned" | "created" | "running" | "stopping" | "stopped" | "destroyed" | "failed";

/** Ends a wait. A call whose wait ends is cancelled at the plugin, and its late answer is passed over. */
export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
}

/** How long the host waits for a plugin, in milliseconds: 1 to 3_600_000 each. */
export interface PluginTimeouts {
  /** From the spawn to the answer of `create`. Default 10_000. */
  readonly createMs?: number | undefined;
  /** Default 10_000. */
  readonly startMs?: number | undefined;
  /** Default 5_000. */
  readonly healthMs?: number | undefined;
  /** Of an MCP request or a hook. Default 60_000. */
  readonly callMs?: number | undefined;
  /** Default 5_000. */
  readonly stopMs?: number | undefined;
  /** From the answer of `destroy`, or the end of its input, to SIGTERM. Default 2_000. */
  readonly exitMs?: number | undefined;
  /** From SIGTERM to SIGKILL. Default 2_000. */
  readonly terminateMs?: number | undefined;
}

/** What bounds one plugin. */
export interface PluginLimits {
  /** Of one message, both ways: 1_024 to 67_108_864 bytes. Default 4 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /** Requests under way: 1 to 10_000. Default 256. One more is `TOO_MANY_CALLS`. */
  readonly maxCalls?: number | undefined;
  /** Of one message, in bytes of text: the bound of `message` in `ave/instance/log`, and of a line of stderr. Default 8 KiB. */
  readonly maxLogBytes?: number | undefined;
  /** Lines and messages of the log told in a second: 1 to 100_000. Default 1_000; the rest is counted and told as one line. */
  readonly maxLogLinesPerSecond?: number | undefined;
  /** Bounds of the process itself: refused where this machine cannot hold them (process-confinement, README § Limits). Default: none. */
  readonly confinement?: ConfinementLimits | undefined;
}

/** What `openInstance` needs. */
export interface InstanceOptions {
  /** Read, checked and measured: its digest is compared once more with what is about to run, and after it runs. */
  readonly plugin: InspectedPlugin;
  /** How the host calls it, in messages, events and errors. Default: its manifest's name. What the plugin is told is always that. */
  readonly name?: string | undefined;
  /** The plugin's own folder, absolute; made with mode 0700 where it is not there. What is in it was written by an attacker. */
  readonly dataFolder: string;
  /** Interpreters outside /usr that it needs, absolute paths: their trees are bound read-only. For Python that is `bin/python3` of an installation or environment. */
  readonly interpreters?: readonly string[] | undefined;
  /** Further folders and files that it sees read-only at their own paths. */
  readonly readOnly?: readonly string[] | undefined;
  /** Runs it without any confinement, for development; each event of it says so. Default false: without a sandbox that holds it is refused. */
  readonly allowUnconfined?: boolean | undefined;
  readonly host: { readonly name: string; readonly version: string };
  readonly timeouts?: PluginTimeouts | undefined;
  readonly limits?: PluginLimits | undefined;
  /** Told before anything follows from it; a rejection stops the step (`NOT_RECORDED`). */
  readonly record?: ((event: PluginEvent) => void | Promise<void>) | undefined;
  /** What the plugin wrote for its operator. Must not throw. */
  readonly onLog?: ((line: PluginLogLine) => void) | undefined;
  /** Of spawn-attestation; one serves all plugins. Default: one for this instance. */
  readonly measurer?: Measurer | undefined;
  /** Ends the start. Later it has no effect. */
  readonly signal?: AbortSignal | undefined;
  readonly scheduler?: Scheduler | undefined;
}

/** One line of a plugin for its operator: control characters are escaped. */
export interface PluginLogLine {
  readonly from: "log" | "stderr";
  readonly level: "debug" | "info" | "warn" | "error";
  readonly text: string;
}

/** How an instance ended. */
export interface InstanceEnd {
  /** `destroyed` is the good one; `crashed` it exited by itself; `protocol`, `timeout` what it did, or did not do, made the host end it. */
  readonly reason: "destroyed" | "crashed" | "protocol" | "timeout" | "changed" | "killed";
  /** One sentence for people. */
  readonly message: string;
  readonly code: number | undefined;
  readonly signal: string | undefined;
  /** Whether the absence of every process of it was seen. */
  readonly confirmed: boolean;
}

/** One running plugin process, created and started. */
export interface PluginInstance extends AsyncDisposable {
  readonly id: string;
  /** How its host calls it. */
  readonly name: string;
  readonly state: InstanceState;
  readonly confinement: "bubblewrap" | "unconfined";
  /** What it said of itself in its answer to `create`. */
  readonly capabilities: { readonly mcp: boolean; readonly health: boolean; readonly hooks: readonly string[] };
  /** Bytes that it wrote to standard error. */
  readonly stderrBytes: number;
  /**
   * Asks the MCP half (2026-07-28), at most once: the params' `_meta` is checked as PROTOCOL.md § 5 says before anything is sent.
   * Resolves with the result.
   * @throws {ProcessPluginError} `REQUEST_INVALID`, `PLUGIN_ANSWERED_ERROR`, `PLUGIN_TIMEOUT`, `PLUGIN_NOT_RUNNING`, `PLUGIN_EXITED`,
   * `PLUGIN_PROTOCOL`, `TOO_MANY_CALLS`. Also the signal's reason.
   */
  request(method: string, params: JsonObject, wait?: WaitOptions): Promise<JsonObject>;
  /** Runs one hook, at most once; the result is in wire form, unread. Errors as `request`. */
  invokeHook(call: JsonObject, wait?: WaitOptions): Promise<unknown>;
  health(wait?: WaitOptions): Promise<{ readonly status: "ok" | "degraded"; readonly detail: string | undefined }>;
  /**
   * The MCP half as a transport of one client, whose ids are its own: bytes pass as they are but for the ids. Any number may be open. A request that the gate refuses is
   * answered on the spot. Closing it cancels what it asked, and leaves the instance as it is.
   */
  openMcp(): Transport;
  /** Resolves when it has ended, however; never rejects. */
  readonly ended: Promise<InstanceEnd>;
  /**
   * stop, destroy, end of input, SIGTERM, SIGKILL, each only while it is needed.
   * @throws {ProcessPluginError} `PLUGIN_NOT_ENDED`: a later call tries again. `NOT_RECORDED`: it has ended, and that could not be recorded.
   */
  close(): Promise<void>;
  /** Ends all processes of it now. @throws as `close`. */
  kill(): Promise<void>;
}
