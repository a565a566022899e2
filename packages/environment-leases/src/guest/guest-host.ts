import type { Readable, Writable } from "node:stream";
import type { EnvironmentEnd, HeldLimit } from "../environment.js";

/** How the agent's process ended. */
export interface HostExit extends EnvironmentEnd {
  /** Its exit status, when it ended by itself. */
  readonly code: number | undefined;
}

/** The process in which an agent runs, as a provider started it. */
export interface GuestHost {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** What the agent itself complains of. Nothing of a command gets here. */
  readonly stderr: Readable;
  readonly enforced: readonly HeldLimit[];
  /** Resolves when everything of it has gone. Never rejects. */
  readonly exited: Promise<HostExit>;
  usage(): { readonly memoryBytes: number | undefined; readonly processes: number | undefined };
  /** Kills everything and resolves when its absence was seen. Rejects when it could not be confirmed. */
  kill(): Promise<void>;
}

/** Where things are, as commands inside see them. */
export interface GuestPlaces {
  readonly workspace: string;
  readonly interpreter: string;
  /** Socket of the dial listener. */
  readonly dial: string;
  /** The folder of staged wheels, here and as the guest sees it; undefined when packages are not granted. */
  readonly wheels: { readonly outside: string; readonly inside: string } | undefined;
}
