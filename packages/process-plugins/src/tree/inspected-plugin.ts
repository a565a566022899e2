import type { Measurer } from "@berth/spawn-attestation";
import type { PluginManifest } from "../manifest/manifest.js";

/** A plugin's folder that was read, checked and measured. Nothing was started. */
export interface InspectedPlugin {
  /** Absolute, links resolved. */
  readonly root: string;
  readonly manifest: PluginManifest;
  /** Absolute path of the executable, links resolved; below `root`. */
  readonly executable: string;
  /** What its `#!` line leads to, links unresolved; undefined for a program. */
  readonly interpreter: string | undefined;
  /** `tree-v1:` and 64 hexadecimal digits, over every file below `root` (@berth/spawn-attestation, README § Digests). */
  readonly digest: string;
  readonly files: number;
  readonly bytes: number;
}

/** What `inspectPlugin` accepts. */
export interface InspectOptions {
  /** The digest that was admitted. Another one is `PLUGIN_CHANGED`. Default: any. */
  readonly digest?: string | undefined;
  /** Entries of the folder: 1 to 1_000_000. Default 100_000. */
  readonly maxEntries?: number | undefined;
  /** Bytes of all files: 1 to 1 TiB. Default 1 GiB. */
  readonly maxTreeBytes?: number | undefined;
  /** Of spawn-attestation; one serves all plugins. Default: one for this call. */
  readonly measurer?: Measurer | undefined;
  readonly signal?: AbortSignal | undefined;
}
