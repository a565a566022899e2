import type { SchedulerTimer } from "@berth/jsonrpc-framing";
import { VenvHostError } from "../errors.js";
import type { CutLine } from "./answer-lines.js";
import type { Call } from "./call.js";
import { findCutId, looksLikeFrame, readAnswer, UNKNOWN_ID } from "./read-answer.js";
import { createGate } from "./waits.js";
import type { WorkerTerms } from "./worker-terms.js";

/** What was sent to one process and is not answered, in order: the worker works in that order, too. */
export interface Runs {
  /** Counts a call as sent. Resolves when the next one may be sent: it was answered, or its time is over. */
  add(call: Call, timeoutMs: number, kind: "probe" | "call"): Promise<void>;
  onLine(bytes: Buffer): void;
  onCut(line: CutLine): void;
  /** The process works: from now on times are as they were given. */
  onFirstByte(): void;
  /** Nothing more will be answered. */
  end(reason: VenvHostError): void;
}

/** What runs need to know. */
export interface RunsOptions {
  readonly terms: WorkerTerms;
  /** Applied to what leaves this package. */
  readonly hide: (text: string) => string;
  /** A call was answered, well or badly. */
  readonly onAnswered: () => void;
  /** So many calls one after another had no answer in time that the process is to be ended. */
  readonly onStuck: () => void;
}

interface Run {
  readonly call: Call;
  readonly kind: "probe" | "call";
  readonly timeoutMs: number;
  readonly free: () => void;
  timer: SchedulerTimer | undefined;
}

const MAX_MESSAGE_CHARS = 4_096;
const MAX_NOISE_CHARS = 1_024;

export function createRuns(options: RunsOptions): Runs {
  const { hide } = options;
  const { limits, onLog } = options.terms;
  const table = createRunTable(options);
  return {
    add: table.add,
    onLine: (bytes) => {
      const reading = readAnswer(bytes, table.ids());
      if (reading.is === "noise") onLog(`stdout: ${cut(hide(bytes.toString("utf8")), MAX_NOISE_CHARS)}`);
      if (reading.is !== "frame") return;
      const { request_id: _, ...members } = reading.members;
      const isError = members["status"] === "error";
      // The oldest: a sequential worker is at no other, and an old one does not say whose error it is.
      const run = table.find(reading.id) ?? (reading.id === UNKNOWN_ID && isError ? table.oldest() : undefined);
      // Late, or a second one: whoever asked is gone.
      if (run === undefined) return;
      table.answered(run, () => {
        if (isError) run.call.reject(workerError(hide(textOf(members["message"]))));
        else run.call.resolve(members);
      });
    },
    onCut: (line) => {
      const known = findCutId(line, table.ids());
      const run = known === undefined ? looksLikeFrame(line) && table.oldest() : table.find(known);
      if (!run) onLog(`stdout: a line of ${line.byteLength} bytes was passed over`);
      else table.answered(run, () => run.call.reject(tooLarge(line, limits.maxContentBytes, known !== undefined)));
    },
    onFirstByte: table.wake,
    end: table.end,
  };
}

/** The runs with their times. */
interface RunTable extends Pick<Runs, "add" | "end"> {
  ids(): readonly string[];
  find(id: string): Run | undefined;
  oldest(): Run | undefined;
  answered(run: Run, settle: () => void): void;
  wake(): void;
}

function createRunTable({ terms, onAnswered, onStuck }: RunsOptions): RunTable {
  const { limits, scheduler } = terms;
  const runs = new Map<string, Run>();
  let isAwake = false;
  let timeouts = 0;
  const finish = (run: Run): void => {
    run.timer?.cancel();
    runs.delete(run.call.id);
    run.free();
  };
  const arm = (run: Run): void => {
    run.timer?.cancel();
    run.timer = scheduler.after(run.timeoutMs + (isAwake ? 0 : limits.startTimeoutMs), () => expire(run));
  };
  const expire = (run: Run): void => {
    run.timer = undefined;
    run.call.reject(timedOut(run));
    if (run.kind === "call") timeouts += 1;
    if (timeouts >= limits.maxTimeouts) onStuck();
    else run.free();
  };
  return {
    add: (call, timeoutMs, kind) => {
      const gate = createGate<void>();
      const run: Run = { call, kind, timeoutMs, free: () => gate.open(), timer: undefined };
      runs.set(call.id, run);
      arm(run);
      return gate.passed;
    },
    ids: () => [...runs.keys()],
    find: (id) => runs.get(id),
    oldest: () => runs.values().next().value,
    answered: (run, settle) => {
      timeouts = 0;
      settle();
      finish(run);
      if (run.kind === "call") onAnswered();
    },
    wake: () => {
      if (isAwake) return;
      isAwake = true;
      for (const run of runs.values()) if (run.timer !== undefined) arm(run);
    },
    end: (reason) => {
      for (const run of [...runs.values()]) {
        run.call.reject(reason);
        finish(run);
      }
    },
  };
}

function timedOut({ timeoutMs, kind }: Run): VenvHostError {
  const message = `the worker gave no answer within ${timeoutMs} ms`;
  return new VenvHostError("WORKER_TIMEOUT", message, { timeoutMs, step: kind });
}

function workerError(text: string): VenvHostError {
  return new VenvHostError("WORKER_ERROR", cut(text, MAX_MESSAGE_CHARS), { step: "call" });
}

function tooLarge({ byteLength }: CutLine, limitBytes: number, isNamed: boolean): VenvHostError {
  const whose = isNamed ? "the answer" : "a line that names no call, taken for the answer,";
  const message = `${whose} has ${byteLength} bytes, the limit is ${limitBytes}; it was passed over`;
  return new VenvHostError("RESPONSE_TOO_LARGE", message, { sizeBytes: byteLength, limitBytes });
}

function textOf(message: unknown): string {
  return typeof message === "string" && message !== "" ? message : "the worker says no reason";
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars).replace(/[\ud800-\udbff]$/u, "")} …`;
}
