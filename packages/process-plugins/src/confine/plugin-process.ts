import type { Readable, Writable } from "node:stream";
import type { ConfinementLimits } from "@berth/process-confinement";
import type { Launch } from "@berth/spawn-attestation";
import type { InspectedPlugin } from "../tree/inspected-plugin.js";

/** The data folder as a confined plugin sees it: no path of the host, so that it can hide none of them. */
export const confinedDataFolder = "/plugin-data";

/** What starts the process of one plugin. */
export interface PluginProcessOptions {
  /** What was measured: `file`, `args` and `env` are those of the process. */
  readonly launch: Launch;
  readonly plugin: InspectedPlugin;
  /** On this machine, absolute. Inside it is `confinedDataFolder`, without confinement it is itself. */
  readonly dataFolder: string;
  readonly interpreters?: readonly string[] | undefined;
  readonly readOnly?: readonly string[] | undefined;
  readonly limits?: ConfinementLimits | undefined;
  /** Ends the start. Later it has no effect. */
  readonly signal?: AbortSignal | undefined;
}

/** How the process ended. */
export interface PluginExit {
  readonly code: number | undefined;
  readonly signal: string | undefined;
  /** `memory`, `disk`, `output`: what was over its limit. `ended`: by us. */
  readonly reason: "exited" | "signalled" | "memory" | "disk" | "output" | "ended" | "killed";
}

/** The running process of one plugin. Nothing of it is read or written yet. */
export interface PluginProcess {
  /** As this machine numbers it; of a sandbox its process 1, with which all others end. */
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly confinement: "bubblewrap" | "unconfined";
  /** What holds each limit that was asked for, one line each, such as `memoryBytes 67108864 by cgroup-v2`. */
  readonly enforced: readonly string[];
  /** Resolves when the command has ended. What it left behind is ended then too: see `kill`. Never rejects. */
  readonly exited: Promise<PluginExit>;
  /** Ends its standard input. Call as often as you like. */
  endInput(): void;
  /** SIGTERM. Without confinement to its whole group. */
  terminate(): void;
  /**
   * SIGKILL for all processes of it; resolves when their absence was seen, also when it has ended already. Of a sandbox a later call tries again.
   * @throws {ProcessPluginError} `PLUGIN_NOT_ENDED`.
   */
  kill(): Promise<void>;
}
