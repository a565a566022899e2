import type { GuestProcess, Lease, Scheduler } from "@berth/environment-leases";
import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import type { Display, OutputEvent, OutputText } from "../outcome.js";
import type { StartedWorker } from "../session-parts.js";
import type { SessionTerms } from "../session-terms.js";
import { within } from "../within.js";
import { frameBytes } from "./boot.js";
import { type CallLog, createCallLog } from "./call-log.js";
import { type CallAnswer, readAnswer, WireFault } from "./wire.js";
import { ChannelEnded, createWorkerChannel } from "./worker-channel.js";
import { explainExit, type WorkerGone } from "./worker-gone.js";

/** What became of one call, as far as the worker told. */
export interface CallReport {
  /** Undefined when the worker was gone before it answered. */
  readonly answer: CallAnswer | undefined;
  readonly texts: Readonly<Record<"stdout" | "stderr" | "output", OutputText>>;
  readonly displays: readonly Display[];
}

export interface RunningCall {
  /** Never rejects. */
  readonly report: Promise<CallReport>;
  /** KeyboardInterrupt in its main thread. */
  interrupt(): void;
}

export interface WorkerCallOptions {
  readonly code: string;
  readonly colours: boolean;
  readonly onOutput?: ((event: OutputEvent) => void) | undefined;
}

/** One Python process that runs one call at a time. */
export interface Worker extends StartedWorker {
  readonly gone: Promise<WorkerGone>;
  readonly ready: Promise<void>;
  /** False once nothing can be handed over any more, which may be known before why. */
  readonly isOpen: boolean;
  /** Hands code over, once. The caller sees to it that no other call runs. */
  execute(options: WorkerCallOptions): RunningCall;
  /** Also while code runs. */
  ask(method: string, params: JsonObject): Promise<JsonValue>;
  /** Ends it for this reason. */
  end(cause: WorkerGone["cause"], detail: string): void;
}

export interface ConnectOptions {
  readonly guest: GuestProcess;
  readonly environmentEnded: Lease["ended"];
  readonly terms: SessionTerms;
  readonly scheduler: Scheduler;
}

/** Interrupts closer to each other are one: a worker that does not read must not make us keep them. */
const betweenInterruptsMs = 50;
/** How long what a dead process still said is waited for. */
const drainMs = 250;

/** The host's side of a process that has been started and is about to be told what to be. */
export function connectWorker({ guest, environmentEnded, terms, scheduler }: ConnectOptions): Worker {
  let log: CallLog | undefined;
  let isReady = false;
  let isGone = false;
  let isOpen = true;
  const ready = gate<void>();
  const gone = gate<WorkerGone>();
  const streamEnded = gate<void>();

  const end = (cause: WorkerGone["cause"], detail: string, signal?: string): void => {
    if (isGone) return;
    isGone = true;
    gone.open({ cause, detail, signal });
    channel.close();
    // Its absence is what the end of the lease confirms.
    guest.close().catch(() => undefined);
  };
  const channel = createWorkerChannel({
    stream: guest.stream,
    maxFrameBytes: frameBytes(terms),
    onSaid(method, params) {
      if (log !== undefined) return log.take(method, params);
      if (isReady || method !== "ready") throw new WireFault("it spoke without being asked");
      isReady = true;
      ready.open();
    },
    onEnd(fault) {
      isOpen = false;
      streamEnded.open();
      if (fault !== undefined) end("protocol", fault);
      else
        void explainExit(guest.exited, environmentEnded, scheduler).then((why) =>
          end(why.cause, why.detail, why.signal),
        );
    },
  });
  guest.stream.on("error", () => undefined); // the transport listens; this one is for after it let go
  void guest.exited.then(async () => {
    await within(streamEnded.passed, drainMs, scheduler);
    channel.close();
  });
  void environmentEnded.then(({ reason, end: how }) => end("environment", how?.detail ?? reason));

  const close = async (): Promise<void> => {
    end("closed", "closed by its host");
    await guest.close();
  };
  return {
    ready: ready.passed,
    gone: gone.passed,
    get isOpen() {
      return isOpen;
    },
    end,
    execute({ code, colours, onOutput }) {
      const { id, answer } = channel.ask("execute", { code, colours });
      const current = createCallLog(id, terms, onOutput);
      log = current;
      const report = async (): Promise<CallReport> => {
        const told = await answer.then(readAnswer).catch((error: unknown) => {
          // An answer that cannot be read is no answer; the worker that gave it is not only ours any more.
          if (!(error instanceof ChannelEnded)) end("protocol", error instanceof Error ? error.message : String(error));
          return undefined;
        });
        log = undefined;
        return { answer: told, texts: current.texts(told), displays: current.displays };
      };
      let interruptedAt = Number.NEGATIVE_INFINITY;
      const interrupt = (): void => {
        if (scheduler.now() - interruptedAt < betweenInterruptsMs) return;
        interruptedAt = scheduler.now();
        channel.tell("interrupt", { call: id });
      };
      return { report: report(), interrupt };
    },
    ask: (method, params) => channel.ask(method, params).answer,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function gate<T>(): { readonly passed: Promise<T>; readonly open: (value: T) => void } {
  let open: (value: T) => void = () => undefined;
  const passed = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}
