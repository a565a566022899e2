import { createDeferred } from "../deferred.js";
import type {
  ApprovedWheel,
  CommandOptions,
  CommandResult,
  GuestProcess,
  GuestProcessOptions,
  InstallOptions,
  ResourceRequest,
  ResourceResponse,
  TerminalChannel,
} from "../environment.js";
import type { Works } from "./maker.js";
import { assertMayOpen, keepOpened, type Outcome, operate } from "./operations.js";
import type { Row } from "./row.js";

/** Runs a program to its end. A release first interrupts it, then kills it. */
export async function runCommand(
  works: Works,
  row: Row,
  argv: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const asked = row.interruptor.signal;
  const interrupt = options.interrupt === undefined ? asked : AbortSignal.any([asked, options.interrupt]);
  const { result } = await operate<CommandResult>(works, row, {
    kind: "run",
    argv,
    signal: options.signal,
    state: "active",
    run: (environment, signal) => environment.run(argv, { ...options, signal, interrupt }),
    outcome: outcomeOfCommand,
  });
  return result;
}

function outcomeOfCommand({ exitCode, signal, stdoutBytes, stderrBytes }: CommandResult): Outcome {
  return { outcome: signal === undefined ? "exited" : "signalled", exitCode, stdoutBytes, stderrBytes };
}

/** Starts a program that lives on, and closes it with the lease. */
export async function openProcess(
  works: Works,
  row: Row,
  state: "reserved" | "active",
  argv: readonly string[],
  options: GuestProcessOptions = {},
): Promise<GuestProcess> {
  assertMayOpen(works, row);
  const { result, tellOutcome } = await operate<GuestProcess>(works, row, {
    kind: "open",
    argv,
    signal: options.signal,
    state,
    run(environment, signal) {
      assertMayOpen(works, row);
      return environment.open(argv, { ...options, signal });
    },
    outcome: () => ({ outcome: undefined }),
    discard: (process) => process.close(),
  });
  keepOpened(row, result, result.exited);
  void result.exited.then(({ code }) => tellOutcome({ outcome: "ended", exitCode: code }));
  return result;
}

export async function openTerminal(
  works: Works,
  row: Row,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<TerminalChannel> {
  assertMayOpen(works, row);
  const { result, tellOutcome } = await operate<TerminalChannel>(works, row, {
    kind: "terminal",
    argv: [],
    signal: options.signal,
    state: "active",
    run(environment, signal) {
      assertMayOpen(works, row);
      return environment.openTerminal({ signal });
    },
    outcome: () => ({ outcome: undefined }),
    discard: (terminal) => terminal.close(),
  });
  const over = createDeferred<void>();
  const close = (): Promise<void> => result.close().finally(() => over.resolve());
  keepOpened(row, { close }, over.promise);
  void over.promise.then(() => tellOutcome({ outcome: "ended" }));
  return {
    read: (read) => result.read(read),
    write: (bytes, write) => result.write(bytes, write),
    resize: (columns, rows) => result.resize(columns, rows),
    close,
    [Symbol.asyncDispose]: close,
  };
}

export async function installPackages(
  works: Works,
  row: Row,
  wheels: readonly ApprovedWheel[],
  options: InstallOptions = {},
): Promise<CommandResult> {
  const { result } = await operate<CommandResult>(works, row, {
    kind: "install",
    argv: wheels.map(({ sha256 }) => sha256),
    signal: options.signal,
    state: "active",
    run: (environment, signal) => environment.installPackages(wheels, { ...options, signal }),
    outcome: outcomeOfCommand,
  });
  return result;
}

export async function requestResource(works: Works, row: Row, request: ResourceRequest): Promise<ResourceResponse> {
  const { result } = await operate<ResourceResponse>(works, row, {
    kind: "request",
    argv: [request.method, String(request.port), request.path],
    signal: request.signal,
    state: "active",
    run: (environment, signal) => environment.requestResource({ ...request, signal }),
    outcome: ({ body }) => ({ outcome: "exited", stdoutBytes: body.byteLength }),
  });
  return result;
}
