import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "@berth/jsonrpc-framing";
import { isObject } from "../../src/json.js";

const program = fileURLToPath(new URL("../programs/task-server.mjs", import.meta.url));
const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {
    elicitation: {},
    extensions: { "io.modelcontextprotocol/tasks": {} },
  },
};

/** A task server that is a process of its own, and its client of 2026-07-28. */
export interface TaskProcess extends AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  /** What it told of itself, in order. */
  readonly notifications: JsonObject[];
  /** Resolves with the result, or undefined when the process has ended without it. Rejects with the error's text. */
  ask(method: string, params: JsonObject): Promise<JsonObject | undefined>;
  until(taskId: string, ...states: readonly string[]): Promise<JsonObject>;
  /** Resolves when it has told so much of itself. */
  told(count: number): Promise<void>;
  /** Resolves when it has ended, with its code. */
  readonly ended: Promise<number | null>;
  stderr(): string;
}

export function startTaskProcess(folder: string): TaskProcess {
  const child = spawn(process.execPath, [program, folder], { stdio: "pipe", signal: AbortSignal.timeout(60_000) });
  child.on("error", () => undefined); // the time limit; the waits below end with the process
  child.stdin.on("error", () => undefined); // it may be killed while something is written
  const waiting = new Map<unknown, (answer: JsonObject | undefined) => void>();
  const notifications: JsonObject[] = [];
  let stderr = "";
  let lastId = 0;
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message: JsonObject = JSON.parse(line);
    if ("method" in message) notifications.push(message);
    else waiting.get(message["id"])?.(message);
  });
  const ended = new Promise<number | null>((resolveEnd) => {
    child.on("close", (code) => {
      for (const resolve of waiting.values()) resolve(undefined);
      waiting.clear();
      resolveEnd(code);
    });
  });
  const ask: TaskProcess["ask"] = async (method, params) => {
    if (child.exitCode !== null || child.signalCode !== null) return undefined;
    const id = ++lastId;
    const answer = await new Promise<JsonObject | undefined>((resolve) => {
      waiting.set(id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } })}\n`);
    });
    waiting.delete(id);
    if (answer === undefined) return undefined;
    if (isObject(answer["result"])) return answer["result"];
    throw new Error(JSON.stringify(answer["error"]));
  };
  return {
    child,
    notifications,
    ask,
    ended,
    stderr: () => stderr,
    async told(count) {
      while (notifications.length < count && child.exitCode === null) await new Promise(setImmediate);
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
    async until(taskId, ...states) {
      for (;;) {
        const task = await ask("tasks/get", { taskId });
        if (task === undefined) throw new Error(`the process ended: ${stderr}`);
        if (states.some((state) => task["status"] === state)) return task;
      }
    },
  };
}
