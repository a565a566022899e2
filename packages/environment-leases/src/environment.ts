import type { Duplex, Readable } from "node:stream";

/** Outcome of one command. A non-zero exit is a result, not an error. */
export interface CommandResult {
  /** Undefined when a signal ended it. */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  /** At most the provider's bound (default 1 MiB each); what is over it was read, counted and dropped. */
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  /** Whole sizes, also of what was dropped. */
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  readonly durationMs: number;
}

/** How a command is run. */
export interface CommandOptions {
  /** From 1 millisecond. Default: the policy's, and never over it. Above: the command's processes are killed and the call rejects with `COMMAND_TIMEOUT`. */
  readonly timeoutMs?: number | undefined;
  /** Absolute path inside. Default: the workspace. */
  readonly cwd?: string | undefined;
  /** Over those of the profile. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** What the command reads; at most 16 MiB. Default: nothing. */
  readonly stdin?: Uint8Array | undefined;
  /** Sends SIGINT to the command's process group, once; the call goes on until the command has ended. A release asks in this way first. */
  readonly interrupt?: AbortSignal | undefined;
  /** Kills the command; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** How a process that lives on is started. */
export interface GuestProcessOptions {
  /** Absolute path inside. Default: the workspace. */
  readonly cwd?: string | undefined;
  /** Over those of the profile. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Ends the start. */
  readonly signal?: AbortSignal | undefined;
}

/** How a process inside ended. */
export interface GuestExit {
  readonly code: number | undefined;
  readonly signal: string | undefined;
}

/** A process inside that lives on beside others, with a byte stream of its own to its stdin and stdout. */
export interface GuestProcess extends AsyncDisposable {
  /** Its descriptors 0 and 1, one connected socket, nobody in between. Bytes from it are an attacker's. */
  readonly stream: Duplex;
  /** Its descriptor 2. */
  readonly stderr: Readable;
  /** Never rejects. Also resolves when the environment ends, with both members undefined when it is not known how. */
  readonly exited: Promise<GuestExit>;
  /** Signals the process; with `group`, its whole process group. */
  signal(name: "SIGINT" | "SIGTERM" | "SIGKILL", options?: { readonly group?: boolean }): void;
  /** SIGKILL for its group, and waits until it is gone. */
  close(): Promise<void>;
}

/** A terminal inside. Bytes are not interpreted on the host. */
export interface TerminalChannel extends AsyncDisposable {
  /** One chunk of at most `maxBytes` (default 65_536); empty at the end. */
  read(options?: { readonly maxBytes?: number; readonly signal?: AbortSignal | undefined }): Promise<Uint8Array>;
  /** At most 64 KiB a call: `INPUT_TOO_LARGE`. */
  write(bytes: Uint8Array, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /** Columns and rows, 1 to 1_000 each: else throws `OPTION_INVALID`. */
  resize(columns: number, rows: number): void;
  close(): Promise<void>;
}

/** A wheel that the operator approved. */
export interface ApprovedWheel {
  /** Absolute path on the host. It is copied before it is hashed, so that what was checked is what is installed. */
  readonly path: string;
  /** SHA-256 in hexadecimal. */
  readonly sha256: string;
}

/** Where approved wheels go. */
export interface InstallOptions {
  /** Into the system's folder instead of the environment's own: needs `packages: "system"`. Default false. */
  readonly system?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A request to a port on the guest's loopback. */
export interface ResourceRequest {
  /** One of the policy's `exposedPorts`. */
  readonly port: number;
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
  /** Begins with one `/`; no scheme, authority, control character or space; at most 8 KiB. */
  readonly path: string;
  /** At most 1 MiB. */
  readonly body?: Uint8Array | undefined;
  /** `type/subtype` with parameters. Needed with a body. */
  readonly contentType?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What the guest answered: at most 8 MiB in 30 s; hop-by-hop headers and Set-Cookie left out, redirects not followed. */
export interface ResourceResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** Why an environment is no more. */
export interface EnvironmentEnd {
  /** `closed`, `deadline` (its own clock inside), `memory`, `exit` (its first process), `signal`, `disk`, `output`, `unknown`. */
  readonly reason: "closed" | "deadline" | "memory" | "exit" | "signal" | "disk" | "output" | "unknown";
  /** Exit status or signal name, for a person. */
  readonly detail: string;
  /** How often the kernel killed inside for memory, whatever ended it; undefined where nothing counts that. */
  readonly memoryKills?: number | undefined;
}

/** One limit, and what holds it. */
export interface HeldLimit {
  readonly limit: string;
  readonly value: number;
  readonly by: string;
}

/** One disposable worker. Everything in it may be an attacker's. */
export interface DisposableEnvironment extends AsyncDisposable {
  /** What is enforced, and by what; goes into the create answer and into the record. */
  readonly enforced: readonly HeldLimit[];
  /** Why it can do less than its profile says, for whoever uses it, one or two sentences; undefined when it can do all. */
  readonly restriction?: string | undefined;
  /** Where the workspace is inside. */
  readonly workspace: string;
  /** The interpreter that commands may name, as it is inside. */
  readonly interpreter: string;
  /** Resolves when it is no more, whoever ended it. Never rejects. */
  readonly ended: Promise<EnvironmentEnd>;
  /**
   * Runs a program to its end. argv only, no shell. Other commands may run beside it. Rejects with `PAYLOAD_INVALID`,
   * `INPUT_TOO_LARGE`, `COMMAND_NOT_STARTED`, `COMMAND_TIMEOUT`, `ENVIRONMENT_ENDED`, or the signal's reason.
   */
  run(argv: readonly string[], options?: CommandOptions): Promise<CommandResult>;
  /** Starts a program that lives on. `PAYLOAD_INVALID`, `COMMAND_NOT_STARTED`, `ENVIRONMENT_ENDED`. */
  open(argv: readonly string[], options?: GuestProcessOptions): Promise<GuestProcess>;
  /** Makes `openTerminal` available. Opens no network. `SHELL_NOT_GRANTED` when the profile grants none. */
  installShell(options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /** `SHELL_NOT_GRANTED` before `installShell`. */
  openTerminal(options?: { readonly signal?: AbortSignal | undefined }): Promise<TerminalChannel>;
  /** Only these wheels, no index. The true outcome of the installer. `PACKAGES_NOT_GRANTED`, `WHEEL_REFUSED`. */
  installPackages(wheels: readonly ApprovedWheel[], options?: InstallOptions): Promise<CommandResult>;
  /** `EXPOSURE_NOT_GRANTED`, `REQUEST_REFUSED`, `RELAY_FAILED`. */
  requestResource(request: ResourceRequest): Promise<ResourceResponse>;
  /** Moves the environment's own deadline to so many milliseconds from now: the second enforcer, inside. */
  setDeadline(remainingMs: number): void;
  /** Memory and processes now; members undefined where nothing counts them. */
  usage(): { readonly memoryBytes: number | undefined; readonly processes: number | undefined };
  /** Destroys this worker and its scratch, never its template. Call as often as you like. Resolves when its absence was seen. */
  close(): Promise<void>;
}
