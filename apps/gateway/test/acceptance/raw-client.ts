/** The barest MCP client: writes lines to a process and keeps the answers' bytes, so that they can be compared. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

export interface RawClient extends AsyncDisposable {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Everything that was neither an answer nor asked for: notifications and the server's own requests, as lines. */
  readonly unasked: readonly string[];
  /** Every line in the order in which it came, answers among them. */
  readonly received: readonly string[];
  readonly stderr: () => string;
  /** Sends a request with the given id (default: the next free one) and resolves with the whole answer line. */
  request(method: string, params?: unknown, id?: number): Promise<string>;
  notify(method: string, params?: unknown): void;
  /** Ends stdin and waits for the exit code (null when a signal ended it). */
  end(): Promise<number | null>;
}

/** The id of an answer; undefined for all else, also for what commands print that are no server. */
const idOf = (line: string): unknown => {
  if (!line.startsWith('{"')) return undefined;
  const message: unknown = JSON.parse(line);
  return typeof message === "object" && message !== null && !("method" in message) && "id" in message
    ? message.id
    : undefined;
};

/** A request of the server to the client. */
export interface ServerRequest {
  readonly id: unknown;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface RawClientOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
  /** Answers the server's own requests; without it they stay unanswered. */
  readonly answer?: (request: ServerRequest) => object;
}

/** The server's own request in a line; undefined for all else. */
export const serverRequestIn = (line: string): ServerRequest | undefined => {
  if (!line.startsWith('{"')) return undefined;
  const message: Partial<ServerRequest> = JSON.parse(line);
  const { id, method, params } = message;
  return id === undefined || method === undefined ? undefined : { id, method, ...(params && { params }) };
};

/** Starts a program as an MCP client would; every wait is bounded by `timeoutMs` (default 60 s). */
export function startRawClient(command: string, args: readonly string[], options: RawClientOptions = {}): RawClient {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const unasked: string[] = [];
  const received: string[] = [];
  const waiting = new Map<unknown, { resolve: (line: string) => void; reject: (cause: Error) => void }>();
  let stderr = "";
  let nextId = 1;
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-65_536);
  });
  child.stdin.on("error", () => {}); // the exit below says what happened
  // Not node:readline, which also splits at U+2028.
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
  const take = (line: string): void => {
    received.push(line);
    const asked = options.answer && serverRequestIn(line);
    if (asked && options.answer) write({ jsonrpc: "2.0", id: asked.id, result: options.answer(asked) });
    const id = idOf(line);
    const waiter = waiting.get(id);
    if (waiter === undefined) unasked.push(line);
    else {
      waiting.delete(id);
      waiter.resolve(line);
    }
  };
  const exited = once(child, "exit");
  void exited.then(() => {
    for (const { reject } of waiting.values()) reject(new Error(`${command} exited; stderr: ${stderr}`));
  });

  const write = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  const request = (method: string, params: unknown = {}, id = nextId++): Promise<string> =>
    new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(options.timeoutMs ?? 60_000);
      signal.addEventListener("abort", () => {
        if (waiting.delete(id)) reject(new Error(`no answer to ${method} (id ${id}); stderr: ${stderr}`));
      });
      waiting.set(id, { resolve, reject });
      write({ jsonrpc: "2.0", id, method, params });
    });
  const end = async (): Promise<number | null> => {
    child.stdin.end();
    const [code] = child.exitCode === null && child.signalCode === null ? await exited : [child.exitCode];
    return code;
  };
  return {
    process: child,
    unasked,
    received,
    stderr: () => stderr,
    request,
    notify: (method, params = {}) => write({ jsonrpc: "2.0", method, params }),
    end,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await end();
    },
  };
}

/** Does the handshake as an ordinary 2025-11-25 client without optional capabilities. */
export async function handshake(client: RawClient, capabilities: object = {}): Promise<string> {
  const answer = await client.request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities,
    clientInfo: { name: "raw-client", version: "1.0.0" },
  });
  client.notify("notifications/initialized");
  return answer;
}
