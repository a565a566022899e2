import { randomUUID } from "node:crypto";
import { VenvHostError } from "../errors.js";
import type { TaskWait, WorkerAnswer, WorkerTask } from "./worker.js";

/** One task on its way: what is sent, and who waits. Settled once; what comes later is nobody's. */
export interface Call {
  readonly id: string;
  readonly line: Buffer;
  readonly secrets: readonly string[];
  readonly isSettled: boolean;
  readonly answer: Promise<WorkerAnswer>;
  resolve(answer: WorkerAnswer): void;
  reject(reason: unknown): void;
}

/** @throws {VenvHostError} `TASK_TOO_LARGE`, `OPTION_INVALID`. */
export function createCall(task: WorkerTask, maxBytes: number, wait?: TaskWait): Call {
  const id = randomUUID();
  const line = encodeTask(task, id);
  if (line.length > maxBytes) {
    const message = `the task takes ${line.length} bytes, the limit is ${maxBytes}; it was not sent`;
    throw new VenvHostError("TASK_TOO_LARGE", message, { sizeBytes: line.length, limitBytes: maxBytes });
  }
  const signal = wait?.signal;
  let isSettled = false;
  let settle: { readonly resolve: (answer: WorkerAnswer) => void; readonly reject: (reason: unknown) => void };
  const answer = new Promise<WorkerAnswer>((resolve, reject) => {
    settle = { resolve, reject };
  });
  const finish = (): boolean => {
    const isFirst = !isSettled;
    isSettled = true;
    signal?.removeEventListener("abort", abort);
    return isFirst;
  };
  const abort = (): void => {
    if (finish()) settle.reject(signal?.reason);
  };
  signal?.addEventListener("abort", abort, { once: true });
  return {
    id,
    line,
    secrets: wait?.secrets ?? [],
    get isSettled() {
      return isSettled;
    },
    answer,
    resolve: (value) => {
      if (finish()) settle.resolve(value);
    },
    reject: (reason) => {
      if (finish()) settle.reject(reason);
    },
  };
}

function encodeTask(task: WorkerTask, id: string): Buffer {
  try {
    return Buffer.from(JSON.stringify({ ...task, request_id: id }), "utf8");
  } catch (error) {
    // The engine's own message may show members of the task.
    const kind = error instanceof Error ? error.name : "an error";
    throw new VenvHostError("OPTION_INVALID", `the task is no JSON (${kind})`);
  }
}
