import type { ServerPolicy } from "./server-policy.js";

/** What `catalog.json` says, as the rest of the program sees it. Reading lives in `catalog-read.ts`, writing in `catalog-edit.ts`. */

/** All servers of one catalog. Records inside have no prototype, so that a key such as `constructor` is only ever the user's. */
export interface Catalog {
  readonly version: 1;
  /** In the order of the file. A name holds letters, digits, `-` and single `_`, 1 to 64 characters, so that `name__tool` splits in one way only. */
  readonly servers: ReadonlyMap<string, CatalogServer>;
}

/** One entry: a program that the gateway starts, or an address that it calls. */
export type CatalogServer = StdioServer | NetworkServer;

interface ServerTerms extends Omit<ServerPolicy, "name"> {
  /** For people; shown by `pin` and `status`. */
  readonly description?: string | undefined;
  readonly limits?: ServerLimits | undefined;
}

/** A server that is started as a child process and spoken to over its standard streams. */
export interface StdioServer extends ServerTerms {
  readonly transport: "stdio";
  readonly spawn: SpawnBlock;
}

/** A server that is reached over the network. A valid entry; whether it can be served is the gateway's to say. */
export interface NetworkServer extends ServerTerms {
  readonly transport: "streamable-http" | "http-sse";
  readonly url: string;
  /** `SHA256:` and the base64 digest of the certificate's public key, one or several; `unpinned` for loopback addresses only. */
  readonly tlsFingerprint: string | readonly string[];
}

/** How a server is started, and what was accepted about it. Paths are relative to the catalog's folder; `cwd` defaults to that folder. */
export interface SpawnBlock {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Values: plain text, `env:NAME`, `file:PATH`, or `literal:TEXT` for a text that begins like a reference. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Names taken from the gateway's own environment, beside the safe default list. */
  readonly inheritEnv?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly measureTarget?: string | undefined;
  readonly measureIgnore?: readonly string[] | undefined;
  /** The accepted measurement: `sha256:HEX` of a file or `tree-v1:HEX` of a folder. */
  readonly digest?: string | undefined;
  readonly interpreter?: InterpreterPin | undefined;
  readonly guard?: "recheck" | "snapshot" | "none" | undefined;
  readonly allowTargetOutsideArgv?: boolean | undefined;
  /** Only `none` in this version: an entry that asks for more is refused, not ignored. */
  readonly confinement?: "none" | undefined;
}

/** The interpreter that was accepted together with the script. */
export interface InterpreterPin extends PinnedFile {
  /** What belongs to it: programs run on the way and its shared library. */
  readonly parts?: readonly PinnedFile[] | undefined;
}

/** A file and its `sha256:HEX`. */
export interface PinnedFile {
  readonly path: string;
  readonly digest: string;
}

/** Bounds for one server's traffic, in bytes. */
export interface ServerLimits {
  /** Largest message either way: 1 KiB to 64 MiB. Default 16 MiB. */
  readonly maxFrameBytes?: number | undefined;
  /** Most bytes queued towards the server: 1 KiB to 256 MiB. */
  readonly maxQueuedBytes?: number | undefined;
}
