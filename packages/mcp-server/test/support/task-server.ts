import type { JsonObject, Scheduler } from "@berth/jsonrpc-framing";
import {
  createMcpServer,
  type InputRequest,
  type McpServer,
  type McpServerOptions,
  RpcError,
  type ToolDefinition,
} from "../../src/index.js";
import { openClient, resultOf, type TestClient } from "./client.js";
import { SafeError } from "./sample.js";

/** Capabilities of a client that knows tasks and can be asked. */
export const knowsTasks = { elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } };

const nothing = { type: "object", additionalProperties: false } as const;
type Handler = ToolDefinition<string>["handler"];

/** A tool that runs as a task. */
export function taskTool(
  name: string,
  handler: Handler,
  more: Partial<ToolDefinition<string>> = {},
): ToolDefinition<string> {
  return { name, description: name, inputSchema: nothing, permission: "use", task: "optional", ...more, handler };
}

/** Resolves when it is told to. */
export interface Gate {
  readonly opened: Promise<string>;
  open(value: string): void;
}
export function createGate(): Gate {
  let open: Gate["open"] = () => undefined;
  const opened = new Promise<string>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

export function form(field: string): InputRequest {
  const requestedSchema = { type: "object", properties: { [field]: { type: "string" } }, required: [field] };
  return { method: "elicitation/create", params: { mode: "form", message: `${field}?`, requestedSchema } };
}

/** Tools for each way in which a task can end. "waits" ends by its signal only. */
export const taskTools: readonly ToolDefinition<string>[] = [
  taskTool("quick", () => "done"),
  taskTool("must", () => "done", { task: "required" }),
  taskTool("tool-error", () => ({ isError: true, content: [{ type: "text", text: "no" }] })),
  taskTool("safe-error", () => {
    throw new SafeError("the disk is full");
  }),
  taskTool("refuses", () => {
    throw new RpcError(-7, "not today", { data: { day: 1 } });
  }),
  taskTool("breaks", () => {
    throw new Error("the password is hunter2");
  }),
  taskTool(
    "waits",
    ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  ),
  taskTool("asks", async ({ requestInput }) => {
    const first = await requestInput({ name: form("name"), place: form("place") });
    const second = await requestInput({ name: form("name") });
    return JSON.stringify([first["name"]?.["content"], first["place"]?.["content"], second["name"]?.["content"]]);
  }),
  taskTool(
    "asks-first",
    async ({ requestInput, startTask }) => {
      const { name } = await requestInput({ name: form("name") });
      const isTask = await startTask();
      return `${isTask} ${JSON.stringify(name?.["content"])}`;
    },
    { task: { support: "required", begins: "when-started" } },
  ),
  taskTool("secret", () => "gold", { permission: "admin" }),
  taskTool("plain", () => "plain", { task: undefined }),
];

export function taskServer(more: Partial<McpServerOptions<string>> = {}): McpServer<string> {
  return createMcpServer<string>({
    identity: { name: "tasks", version: "1.0.0" },
    authorize: ({ principal, permission }) => permission === "use" || principal === "root",
    isSafeError: (error) => error instanceof SafeError,
    tools: taskTools,
    ...more,
  });
}

/** A client that knows tasks. */
export interface TaskClient extends TestClient {
  call(name: string, more?: JsonObject): Promise<JsonObject>;
  /** Calls a tool and resolves with the id of the task that it became. */
  start(name: string): Promise<string>;
  get(taskId: string): Promise<JsonObject>;
  update(taskId: string, inputResponses: JsonObject): Promise<JsonObject>;
  cancel(taskId: string): Promise<JsonObject>;
  /** Asks until the task is in one of these states. */
  until(taskId: string, ...states: readonly string[]): Promise<JsonObject>;
  /** Listens to tasks until the connection ends; resolves once that was acknowledged. */
  listen(...taskIds: readonly string[]): Promise<void>;
}

export function openTaskClient(server: McpServer<string>, principal = "ada"): TaskClient {
  const client = openClient(server, principal);
  const ask = async (method: string, params: JsonObject): Promise<JsonObject> =>
    resultOf(await client.askModern(method, params, knowsTasks));
  const call: TaskClient["call"] = (name, more = {}) => ask("tools/call", { name, arguments: {}, ...more });
  const get: TaskClient["get"] = (taskId) => ask("tasks/get", { taskId });
  return {
    ...client,
    call,
    get,
    async start(name) {
      const { taskId } = await call(name);
      if (typeof taskId !== "string") throw new Error(`${name} did not become a task`);
      return taskId;
    },
    update: (taskId, inputResponses) => ask("tasks/update", { taskId, inputResponses }),
    cancel: (taskId) => ask("tasks/cancel", { taskId }),
    async until(taskId, ...states) {
      const signal = AbortSignal.timeout(10_000);
      for (;;) {
        const task = await get(taskId);
        if (states.some((state) => task["status"] === state)) return task;
        signal.throwIfAborted();
        await new Promise(setImmediate);
      }
    },
    async listen(...taskIds) {
      void client.askModern("subscriptions/listen", { notifications: { taskIds } }, knowsTasks);
      for (let left = 1_000; left > 0; left -= 1) {
        if (client.sent.some(({ method }) => method === "notifications/subscriptions/acknowledged")) return;
        await new Promise(setImmediate);
      }
      throw new Error("the listening was not acknowledged");
    },
  };
}

/** A clock that goes only when it is told to, and the timers on it. */
export interface ManualTime {
  readonly scheduler: Scheduler;
  now(): number;
  /** Goes on by so many milliseconds, and calls what is due in that time, in order. */
  pass(milliseconds: number): Promise<void>;
  readonly timers: number;
}

export function manualTime(start = Date.parse("2026-07-28T00:00:00Z")): ManualTime {
  let time = start;
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  return {
    now: () => time,
    get timers() {
      return timers.size;
    },
    scheduler: {
      now: () => time,
      after(delayMs, callback) {
        const timer = { at: time + delayMs, callback };
        timers.add(timer);
        return { cancel: () => void timers.delete(timer), hold: () => undefined };
      },
    },
    async pass(milliseconds) {
      const end = time + milliseconds;
      for (;;) {
        const [due] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (due === undefined) break;
        timers.delete(due);
        time = Math.max(time, due.at);
        due.callback();
        await new Promise(setImmediate);
      }
      time = end;
      await new Promise(setImmediate);
    },
  };
}
