import type { SessionLimits } from "../../../src/http/legacy/limits.js";
import { createMemoryEventStore } from "../../../src/http/legacy/memory-event-store.js";
import { type HttpServer, serveHttp } from "../../../src/http/serve-http.js";
import { defineTool, type McpServer, type RequestScope } from "../../../src/index.js";
import { notes } from "../../support/notes.js";
import { sampleServer, sampleTools } from "../../support/sample.js";

const nothing = { type: "object", additionalProperties: false } as const;

/** A call of "waits-here" that goes on when the test says so. */
export interface WaitingCall {
  readonly scope: RequestScope<string>;
  answer(text: string): void;
}

/** The sample server over HTTP, with an event store and tools for what only sessions have. */
export interface ServedSample extends AsyncDisposable {
  readonly http: HttpServer;
  readonly url: URL;
  readonly server: McpServer<string>;
  readonly errors: unknown[];
  /** Requests so far, by method. */
  readonly requests: ReadonlyMap<string, number>;
  /** The next call of "waits-here". */
  nextCall(): Promise<WaitingCall>;
}

export async function serveSample(limits: SessionLimits = {}): Promise<ServedSample> {
  const errors: unknown[] = [];
  const calls: WaitingCall[] = [];
  const requests = new Map<string, number>();
  let heard: (() => void) | undefined;
  const server = sampleServer({
    ...notes,
    observers: [({ method }) => void requests.set(method, (requests.get(method) ?? 0) + 1)],
    tools: [
      ...sampleTools,
      defineTool<string, typeof nothing>({
        name: "waits-here",
        description: "Goes on when the test says so",
        inputSchema: nothing,
        permission: "use",
        handler: (scope) =>
          new Promise((answer) => {
            calls.push({ scope, answer });
            heard?.();
          }),
      }),
      defineTool<string, typeof nothing>({
        name: "polls",
        description: "Lets go of its stream, and answers later",
        inputSchema: nothing,
        permission: "use",
        handler: async ({ progress, releaseStream }) => {
          progress(1);
          releaseStream();
          await new Promise((resolve) => setTimeout(resolve, 100));
          progress(2);
          return "polled";
        },
      }),
      defineTool<string, typeof nothing>({
        name: "changes",
        description: "Tells of a changed list",
        inputSchema: nothing,
        permission: "use",
        handler: () => {
          server.listChanged("tools");
          return "changed";
        },
      }),
    ],
  });
  const http = await serveHttp<string>({
    server,
    principal: "ada",
    sessions: { eventStore: createMemoryEventStore(), limits: { retryMs: 20, ...limits } },
    onUnexpectedError: (error) => void errors.push(error),
    logger: () => undefined,
  });
  return {
    http,
    url: new URL(http.url),
    server,
    errors,
    requests,
    async nextCall() {
      while (calls.length === 0) {
        await new Promise<void>((resolve) => {
          heard = resolve;
        });
      }
      const call = calls.shift();
      if (call === undefined) throw new Error("no call");
      return call;
    },
    [Symbol.asyncDispose]: http[Symbol.asyncDispose],
  };
}
