import type { ChildHandle, ExitStatus } from "./child-handle.js";
import { closePipes } from "./child-pipes.js";
import type { ChildTerms } from "./child-terms.js";
import type { Held } from "./end-everything.js";
import { createEnding } from "./end-in-stages.js";
import { StdioTransportError } from "./errors.js";
import { createGate } from "./gate.js";
import type { Launched } from "./launch.js";
import { removeRecord } from "./registry.js";
import { createStreamCore } from "./stream-core.js";
import type { Supervision } from "./supervision.js";
import type { Transport } from "./transport.js";
import { within } from "./within.js";

/** The handle of a command that runs: ties its exit, its pipes, its transport and its end together. */
export function holdChild(
  launched: Launched,
  held: Held,
  terms: ChildTerms,
  recordPath: string | undefined,
): ChildHandle {
  const { supervision, containment, numbers, stderr } = launched;
  const { stdin, stdout, exited, pipesClosed } = supervision;
  const { scheduler } = terms;
  const pipes = [stdout, supervision.stderr];
  const core = createStreamCore({
    readable: stdout,
    writable: stdin,
    terms: terms.transport,
    closeCause: (streamError) => closeCause(supervision, streamError, terms),
  });
  const ending = createEnding(held, terms, () => stdin.end());
  const ended = createGate<void>();

  const release = (async () => {
    if (!(await held.gone)) return;
    if (recordPath !== undefined) await removeRecord(recordPath);
    ended.open();
  })();
  const pipesReleased = supervision.ended.then(() => closePipes(pipes, pipesClosed, core.whenReading, scheduler));
  void exited.then((status) => {
    const cause = exitError(status);
    core.failSends(cause.message, cause);
    stdin.destroy();
    ending.begin("terminate").catch(ignoreUntilClose);
  });
  void core.inputEnded.then(async () => {
    stdout.resume(); // nobody reads it now: a child must not block on it while it ends
    // Until it is known which of the two it was, nothing of ours may make it exit.
    if (await within([exited], exitFollowsMs, scheduler)) return;
    ending.begin("input").catch(ignoreUntilClose);
  });

  const endBy = (first: "input" | "kill"): Promise<void> => {
    core.finish(undefined, "the transport was closed");
    return Promise.all([ending.begin(first), pipesReleased, release]).then(() => undefined);
  };
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= endBy("input"));
  return {
    transport: withClose(core.transport, close),
    pid: numbers.command,
    containment,
    exited,
    pipesClosed,
    ended: ended.passed,
    stderr,
    kill: () => endBy("kill"),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** How long the exit may come after the end of stdout: until then nobody knows which of the two it was. */
const exitFollowsMs = 100;

async function closeCause(
  { exited }: Supervision,
  streamError: Error | undefined,
  { scheduler }: ChildTerms,
): Promise<Error> {
  if (await within([exited], exitFollowsMs, scheduler)) return exitError(await exited, streamError);
  const message = "the command closed its output and went on running";
  return new StdioTransportError("CHILD_CLOSED_OUTPUT", message, { cause: streamError });
}

function exitError({ code, signal }: ExitStatus, cause?: Error): StdioTransportError {
  const how = signal === null ? `with code ${code}` : `by ${signal}`;
  return new StdioTransportError("CHILD_EXITED", `the command ended ${how}`, { cause });
}

function withClose(transport: Transport, close: () => Promise<void>): Transport {
  const { start, send, pause, resume, closed } = transport;
  return {
    start,
    send,
    pause,
    resume,
    get queuedBytes() {
      return transport.queuedBytes;
    },
    close,
    closed,
    [Symbol.asyncDispose]: close,
  };
}

function ignoreUntilClose(): void {
  // The end began by itself; `close` and `kill` give the same promise to whoever asks.
}
