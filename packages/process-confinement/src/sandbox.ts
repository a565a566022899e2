import type { Readable, Writable } from "node:stream";
import type { ConfinementLimits, ConfinementPolicy } from "./policy.js";

/** What runs in a sandbox, and what bounds its start and end. */
export interface SandboxOptions {
  /** Names its control group and its records: 1 to 64 letters, digits and dashes; unique on this machine. */
  readonly name: string;
  readonly policy: ConfinementPolicy;
  /**
   * The program, as it is found on this machine. It, its shared libraries, and for Python its base, library and virtual
   * environment are bound at their own paths. Not looked up in PATH.
   */
  readonly file: string;
  /** Arguments after the program's own name. */
  readonly args: readonly string[];
  /** The whole environment of the command; nothing is added but what `network: allowlist` needs. */
  readonly env: Readonly<Record<string, string>>;
  /** Working directory inside. Default: the workspace, else /tmp. */
  readonly cwd?: string | undefined;
  /**
   * Who speaks the start-up handshake. `shell` (default): a first process of ours, which then becomes the command, with
   * descriptors 0 to 2 only. `command`: the command itself; it finds the two ends as descriptors 3 (to read) and 4 (to
   * write), writes `r\n` to 4, waits for `go\n` on 3, exits with 125 when 3 ends first, and closes everything above 2.
   */
  readonly handshake?: "shell" | "command" | undefined;
  /** The command is process 1 of its pid namespace: nothing inside can signal it, and it must reap. Default false. */
  readonly asPid1?: boolean | undefined;
  /**
   * Told while the sandbox is up but the command still waits: what to write down so that `endSandbox` can find it after a crash. A rejection ends the
   * sandbox, and so does a source that was replaced by the time it resolves.
   */
  readonly record?: ((identity: SandboxIdentity, gate: SandboxGate) => void | Promise<void>) | undefined;
  /** 1 to 600_000 milliseconds. Default 10_000. Above: `START_TIMEOUT`. */
  readonly startTimeoutMs?: number | undefined;
  /** From SIGTERM for the command to SIGKILL for all, when closing: 0 to 600_000 milliseconds. Default 2_000. */
  readonly graceMs?: number | undefined;
  /** Ends the start. Later it has no effect. */
  readonly signal?: AbortSignal | undefined;
}

/** What can be asked while the command waits. */
export interface SandboxGate {
  /**
   * Compares the sources with what was bound. Who then looks at a source, and sees that it was not moved since an earlier look, has
   * looked at what the command will see.
   * @throws {ConfinementError} `SANDBOX_NOT_STARTED`.
   */
  verifySources(): void;
}

/** How a sandbox is found again by a host that did not start it. Plain data; an unknown member is kept. */
export interface SandboxIdentity {
  readonly name: string;
  /** `/proc/sys/kernel/random/boot_id`: after another boot, nothing of it exists. */
  readonly bootId: string;
  /** The outer bubblewrap and the namespace's process 1, as this machine numbers them, with their start times in ticks. */
  readonly outer: { readonly pid: number; readonly startTime: number };
  readonly init: { readonly pid: number; readonly startTime: number };
  /** Inode of the pid namespace in which these numbers hold: seen from another one, nothing can be said. */
  readonly hostPidNamespace: number;
  /** Inode of the pid namespace: with it, a process that changed its parent is still known. */
  readonly pidNamespace: number;
  /** Absolute paths of the control groups that were made for it. */
  readonly controlGroups: readonly string[];
}

/** Whether anything of a sandbox is left. `unknown` is never to be read as `gone`. */
export type SandboxPresence = "running" | "gone" | "unknown";

/** How the command ended, and why. */
export interface SandboxExit {
  /**
   * `exited`, `signalled` (by itself or from inside), `memory` (the kernel killed for `memoryBytes`), `output`, `disk` (over
   * that limit), `closed` (by `close`), `killed` (from outside, by somebody else).
   */
  readonly reason: "exited" | "signalled" | "memory" | "output" | "disk" | "closed" | "killed";
  /** Exit status; undefined when a signal ended it. */
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  /** How often the kernel killed inside the control group for memory; undefined without one. */
  readonly memoryKills: number | undefined;
}

/**
 * Which mechanism holds a limit. `watched-frozen`: of a folder, with the sandbox held still where it changes under a look;
 * `watched` instead, where nothing can hold it still: a program that moves its files past the look is not seen.
 */
export interface LimitEnforcement {
  readonly limit: keyof ConfinementLimits | "tmpBytes" | "workspaceBytes";
  readonly value: number;
  readonly by: "cgroup-v2" | "cgroup-v1" | "rlimit" | "memory-file-system" | "watched" | "watched-frozen";
}

/** What a sandbox uses now; members are undefined where no control group counts them. */
export interface SandboxUsage {
  readonly memoryBytes: number | undefined;
  readonly processes: number | undefined;
  readonly cpuMs: number | undefined;
}

/** A running confined command. */
export interface Sandbox extends AsyncDisposable {
  readonly name: string;
  readonly identity: SandboxIdentity;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** What holds each limit that was asked for. */
  readonly enforced: readonly LimitEnforcement[];
  /** Resolves when the command has ended and everything of the sandbox with it. Never rejects. */
  readonly exited: Promise<SandboxExit>;
  /** Signals the command itself, not its children. False when it has ended. */
  signal(name: NodeJS.Signals): boolean;
  usage(): SandboxUsage;
  /**
   * SIGTERM for the command, SIGKILL for all after `graceMs`; resolves when their absence was seen and the control groups
   * are removed. Call as often as you like. Rejects with `SANDBOX_NOT_ENDED` when it could not be confirmed; a later call tries
   * again.
   */
  close(): Promise<void>;
  /** As `close`, without grace. */
  kill(): Promise<void>;
}
