import type { Readable, Writable } from "node:stream";

/** What an attempt may use at most. The wrap must hold these; the attempts go over them in bounded forms. */
export interface EscapeLimits {
  /** All processes together: 32 MiB to 1 GiB. Default 64 MiB; the attempt takes 64 MiB more. */
  readonly memoryBytes: number;
  /** 8 to 512. Default 48; the attempt makes 16 more. */
  readonly processes: number;
  /** Of /tmp and of /dev/shm, each: 1 to 256 MiB. Default 8 MiB; the attempts write 8 MiB more. */
  readonly tmpBytes: number;
  /** Of the workspace: 1 to 256 MiB. Default 16 MiB; the attempt writes twice as much. */
  readonly diskBytes: number;
  /** Of stdout and stderr: 64 KiB to 64 MiB. Default 1 MiB; the attempt writes four times as much. */
  readonly outputBytes: number;
}

/** The program of one attempt, as it is to be started inside the wrap that is tried. */
export interface EscapeCommand {
  /** Letters, digits and dashes; unique on this machine. */
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Folders that it must see, read-only, at their own paths. */
  readonly readOnly: readonly string[];
  /** The one folder of this machine that it may write, at its own path; its working directory. */
  readonly workspace: string;
  readonly limits: EscapeLimits;
}

/** A command line that the kit starts itself, without a shell: the wrap and, behind it, the command. */
export interface EscapeLaunch {
  readonly file: string;
  readonly args: readonly string[];
  /** Default: the command's. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** A command that the wrap started. A `Sandbox` is one. */
export interface EscapeProcess {
  readonly stdin?: Writable | undefined;
  readonly stdout: Readable;
  readonly stderr?: Readable | undefined;
  /** The end of the command. Must not reject. */
  readonly exited: Promise<{
    readonly code: number | null | undefined;
    readonly signal: string | null | undefined;
    readonly reason?: string | undefined;
  }>;
  /** Ends all that is left of it. May be called after the end. */
  kill(): Promise<void>;
}

/** Starts a command inside the wrap that is tried. A rejection makes the attempt `inconclusive`. */
export type EscapeWrap = (
  command: EscapeCommand,
  signal: AbortSignal,
) => EscapeLaunch | EscapeProcess | Promise<EscapeLaunch | EscapeProcess>;

/** One of the attempts of this kit. */
export interface EscapeAttempt {
  readonly id: string;
  readonly title: string;
  /** What it tries, one sentence. */
  readonly tries: string;
  /** Where the same attempt must succeed: `unwrapped` on this machine, or in a user namespace with all `capabilities` in it. */
  readonly control: "unwrapped" | "capabilities";
}

/** Something that must be so for a refusal to mean anything. */
export interface EscapeControl {
  /** `started`, `own-write`, `answered`, `host-reads`, `host-reaches`, `offered`, `no-arrival`, or `without-protection`. */
  readonly name: string;
  readonly held: boolean;
  /** What was seen, one sentence. */
  readonly seen: string;
}

/** What the system answered inside. Never the content of anything. */
export interface EscapeAnswer {
  readonly outcome: "refused" | "succeeded" | "ended" | "silent";
  readonly errno: number | undefined;
  /** `ENOENT`, `EPERM`, …; a word of the attempt; for `ended` how the command was ended. */
  readonly name: string | undefined;
  /** Of what was read. */
  readonly bytes: number | undefined;
  readonly sha256: string | undefined;
}

/** One attempt's result. */
export interface EscapeResult {
  readonly id: string;
  readonly title: string;
  /** `refused` only with every control held; `inconclusive` when one did not hold. */
  readonly outcome: "refused" | "escaped" | "inconclusive";
  readonly answer: EscapeAnswer;
  readonly controls: readonly EscapeControl[];
}

/** All results, in the order of the attempts. */
export interface EscapeReport {
  readonly results: readonly EscapeResult[];
  readonly refused: number;
  readonly escaped: number;
  readonly inconclusive: number;
}

/** What to try, and on what. */
export interface EscapeOptions {
  readonly wrap: EscapeWrap;
  /** Ids of `escapeAttempts`. Default: all. */
  readonly attempts?: readonly string[] | undefined;
  /** Python 3.10 or later with ctypes, an absolute path. Default `/usr/bin/python3`. */
  readonly python?: string | undefined;
  readonly limits?: Partial<EscapeLimits> | undefined;
  /** One attempt, from its start to the end of all that it left: 1_000 to 600_000 milliseconds. Default 30_000. */
  readonly attemptTimeoutMs?: number | undefined;
  /** Told after each attempt. */
  readonly onResult?: ((result: EscapeResult) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}
