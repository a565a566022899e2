import { defineTool, type McpServer, type McpServerOptions, type ToolCall } from "../../src/index.js";
import { sampleServer, sampleTools } from "./sample.js";

const anything = { type: "object" } as const;

/** A server whose tool "held" waits until the test lets it go on. */
export interface HeldServer {
  readonly server: McpServer<string>;
  /** The next call that has come in and was not taken yet. */
  taken(): Promise<HeldCall>;
  /** Outcomes of all requests, as observers are told. */
  readonly outcomes: string[];
}

export interface HeldCall {
  readonly call: ToolCall<string, Readonly<Record<string, unknown>>>;
  /** Lets it answer with this text. */
  release(text?: string): void;
  fail(error: Error): void;
}

export function heldServer(more: Partial<McpServerOptions<string>> = {}): HeldServer {
  const calls: HeldCall[] = [];
  const waiting: ((call: HeldCall) => void)[] = [];
  const outcomes: string[] = [];
  const held = defineTool<string, typeof anything>({
    name: "held",
    description: "Waits",
    inputSchema: anything,
    permission: "use",
    handler: (call) =>
      new Promise((resolve, reject) => {
        const one: HeldCall = { call, release: (text = "released") => resolve(text), fail: reject };
        const next = waiting.shift();
        if (next === undefined) calls.push(one);
        else next(one);
      }),
  });
  const server = sampleServer({
    tools: [...sampleTools, held],
    observers: [({ outcome }) => void outcomes.push(outcome)],
    ...more,
  });
  const taken = (): Promise<HeldCall> => {
    const there = calls.shift();
    return there === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(there);
  };
  return { server, taken, outcomes };
}

/** Resolves when it holds; what it looks at changes without telling. */
export async function until(holds: () => boolean): Promise<void> {
  const signal = AbortSignal.timeout(10_000);
  while (!holds()) {
    signal.throwIfAborted();
    await new Promise(setImmediate);
  }
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });
}
