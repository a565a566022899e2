import type { JsonObject } from "@berth/jsonrpc-framing";
import { ProcessPluginError } from "../../errors.js";

/** A plugin's answer: one of the two. */
export interface Answer {
  readonly result: JsonObject | undefined;
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } | undefined;
}

/** Whose turn it is to speak: at most one request waits, and the first fault is the last. */
export interface Turn {
  readonly fault: ProcessPluginError | undefined;
  /** The end of a sentence: before which answer something happened, or nothing. */
  readonly asked: string;
  /** Takes the next id, has it sent, and waits. @throws {ProcessPluginError} the fault; also the signal's reason. */
  take(method: string, timeoutMs: number, send: (id: number) => void): Promise<Answer>;
  /** The same for a line that has no id, or none that could be read: it is answered with the id null. */
  takeUnreadable(what: string, timeoutMs: number, send: () => void): Promise<Answer>;
  /** Whether an answer with the id null is waited for; it is given it. */
  answerNull(error: Answer["error"]): boolean;
  /** @returns what is wrong with it. */
  answer(id: number, error: Answer["error"], msg: JsonObject): string | undefined;
  fail(fault: ProcessPluginError): void;
}

interface Waiting {
  readonly id: number | null;
  readonly method: string;
  readonly answer: (answer: Answer) => void;
  readonly fail: (error: unknown) => void;
}

export function createTurn(signal: AbortSignal | undefined): Turn {
  let waiting: Waiting | undefined;
  let lastId = 0;
  let fault: ProcessPluginError | undefined;
  const fail = (reason: ProcessPluginError): void => {
    fault ??= reason;
    waiting?.fail(fault);
  };
  const wait = async <I extends number | null>(
    id: I,
    method: string,
    timeoutMs: number,
    send: (id: I) => void,
  ): Promise<Answer> => {
    signal?.throwIfAborted();
    if (fault !== undefined) throw fault;
    const answered = new Promise<Answer>((answer, reject) => {
      waiting = { id, method, answer, fail: reject };
    });
    const late = new ProcessPluginError("PLUGIN_TIMEOUT", `it did not answer ${method} within ${timeoutMs} ms`);
    const timer = setTimeout(fail, timeoutMs, late);
    const onAbort = (): void => waiting?.fail(signal?.reason);
    signal?.addEventListener("abort", onAbort);
    try {
      send(id);
      return await answered;
    } finally {
      waiting = undefined;
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  };
  return {
    get fault() {
      return fault;
    },
    get asked() {
      return waiting === undefined ? "" : `, before it had answered ${waiting.method}`;
    },
    take(method, timeoutMs, send) {
      return wait(++lastId, method, timeoutMs, send);
    },
    takeUnreadable(what, timeoutMs, send) {
      return wait(null, what, timeoutMs, send);
    },
    answerNull(error) {
      if (waiting?.id !== null) return false;
      const { answer } = waiting;
      waiting = undefined;
      answer({ result: undefined, error });
      return true;
    },
    answer(id, error, { result }) {
      if (waiting === undefined || id !== waiting.id) {
        return `it answered id ${id}, which was ${id >= 1 && id <= lastId ? "answered already" : "never used"}`;
      }
      if (error === undefined && !isJsonObject(result)) return `its result for ${waiting.method} is no object`;
      const { answer } = waiting;
      waiting = undefined; // a second answer may follow in the same chunk
      answer({ result: isJsonObject(result) ? result : undefined, error });
      return undefined;
    },
    fail,
  };
}

/** What `JSON.parse` made of braces. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
