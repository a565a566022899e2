import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { createHttpHandler, serveHttp } from "../../src/http.js";
import {
  createMcpServer,
  type McpServer,
  type McpServerOptions,
  type RequestEvent,
  type ToolCall,
} from "../../src/index.js";
import { serveStdio } from "../../src/stdio.js";
import { openClient, resultOf } from "../support/client.js";
import { SafeError, sampleServer } from "../support/sample.js";
import { openTaskClient, taskServer, taskTool } from "../support/task-server.js";

/** What the process is warned of from now on, by code. Resolved after a turn, since warnings come in the next tick. */
function warnings(): () => Promise<readonly string[]> {
  const told: string[] = [];
  const tell = (warning: Error): void => {
    if ("code" in warning) told.push(`${warning.code}: ${warning.message}`);
  };
  process.on("warning", tell);
  onTestFinished(() => void process.off("warning", tell));
  return async () => {
    await new Promise(setImmediate);
    return told;
  };
}
const down = new Error("down: the password is hunter2");
const throwing = (): never => {
  throw down;
};

describe("an authorizer that throws", () => {
  it.each([
    ["at once", throwing],
    ["later", () => Promise.reject(down)],
  ])("%s is told to observers with its error, and once to the process", async (_, authorize) => {
    const told = warnings();
    const events: RequestEvent<string>[] = [];
    const client = openClient(sampleServer({ authorize, observers: [(event) => void events.push(event)] }));
    const listed = await client.askModern("tools/list");
    const called = await client.askModern("tools/call", { name: "echo" });
    expect(resultOf(listed)["tools"]).toEqual([]);
    expect(JSON.stringify([listed, called])).not.toContain("hunter2");
    expect(events.map(({ outcome, failure }) => [outcome, failure])).toEqual([
      ["failure", down],
      ["failure", down],
    ]);
    const warned = await told();
    expect(warned).toHaveLength(1);
    expect(warned[0]).toContain("MCP_AUTHORIZER_FAILED: `authorize` threw, which denies; told once: Error: down");
  });

  it("for one entry of many leaves the others, and is a failure all the same", async () => {
    const told = warnings();
    const outcomes: string[] = [];
    const server = sampleServer({
      authorize: ({ name }) => name !== "sum" || throwing(),
      observers: [({ outcome }) => void outcomes.push(outcome)],
    });
    const { tools } = resultOf(await openClient(server).askModern("tools/list"));
    expect(tools).toHaveLength(8);
    expect(outcomes).toEqual(["failure"]);
    expect(await told()).toHaveLength(1);
  });

  it("while somebody begins to listen is a failure", async () => {
    const told = warnings();
    const outcomes: string[] = [];
    const server = sampleServer({
      authorize: throwing,
      observers: [({ outcome }) => void outcomes.push(outcome)],
      resources: [{ uri: "r:///1", name: "r", permission: "use", read: () => "" }],
    });
    const client = openClient(server);
    const answer = client.askModern("subscriptions/listen", { notifications: { resourceSubscriptions: ["r:///1"] } });
    await new Promise(setImmediate);
    await client.connection.close({ farewell: true });
    await answer;
    expect(outcomes).toEqual(["failure"]);
    expect(await told()).toHaveLength(1);
  });
});

describe("a server without an authorizer", () => {
  it("warns at the start that nobody may use anything of it", async () => {
    const told = warnings();
    sampleServer({ authorize: undefined });
    expect(await told()).toEqual([expect.stringContaining("MCP_NO_AUTHORIZER: the server has no `authorize`")]);
  });

  it("does not warn when there is nothing to use", async () => {
    const told = warnings();
    createMcpServer({ identity: { name: "empty", version: "1" } });
    expect(await told()).toEqual([]);
  });
});

describe("the error of a failure", () => {
  it("is what the handler threw, itself; other outcomes have none", async () => {
    const events: RequestEvent<string>[] = [];
    const client = openClient(sampleServer({ observers: [(event) => void events.push(event)] }));
    for (const name of ["breaks", "wrong", "fails", "absent", "sum"]) {
      await client.askModern("tools/call", { name }).catch(() => undefined);
    }
    expect(events.map(({ outcome, failure }) => [outcome, String(failure)])).toEqual([
      ["failure", "Error: the password is hunter2"],
      ["failure", expect.stringContaining('ResultError: the handler of tool "wrong" returned')],
      ["tool-error", "undefined"],
      ["protocol-error", "undefined"],
      ["success", "undefined"],
    ]);
  });
});

describe("the error of a task that failed", () => {
  it.each([
    ["an error", () => Promise.reject(down), "Error: down: the password is hunter2"],
    ["a result that is none", () => Object({ result: 1 }), "ResultError: the handler of tool"],
    [
      "questions that cannot be asked, for which it does not wait",
      ({ requestInput }: ToolCall<string>) => {
        requestInput(Object({ q: { method: "elicit" } }));
        return "not waited";
      },
      'ResultError: the handler of tools/call "t" asked "q"',
    ],
  ])("is told with its end: %s", async (_, handler, tells) => {
    const events: RequestEvent<string>[] = [];
    const tasks = { onUnexpectedError: () => undefined };
    const observers = [(event: RequestEvent<string>) => void events.push(event)];
    const client = openTaskClient(taskServer({ tools: [taskTool("t", handler)], observers, tasks }));
    const { taskId } = await client.call("t");
    await client.until(String(taskId), "failed");
    const [ended] = events.filter(({ task }) => task?.stage === "ended");
    expect(String(ended?.failure)).toContain(tells);
    expect(events.find(({ task }) => task?.stage === "created")).toMatchObject({ failure: undefined });
  });
});

describe("isSafeError that throws", () => {
  const isSafeError = (): never => {
    throw new TypeError("error.cause is undefined");
  };
  it("means no: the handler's error stays what it was, and the failure is counted and told", async () => {
    const told: unknown[] = [];
    const server = sampleServer({ isSafeError, onObserverError: (error) => void told.push(error) });
    const asked = openClient(server).askModern("tools/call", { name: "fails" });
    await expect(asked).rejects.toThrow(SafeError);
    expect(server.observerFailures).toBe(1);
    expect(told.map(String)).toEqual(["TypeError: error.cause is undefined"]);
  });
});

describe("a kind of list that does not exist", () => {
  it("is refused: nobody would be told", () => {
    const server = sampleServer();
    expect(() => Reflect.apply(server.listChanged, server, ["tool"])).toThrow(
      new TypeError('listChanged of "tool": there are tools, prompts, resources'),
    );
    for (const kind of ["tools", "prompts", "resources"] as const) server.listChanged(kind);
  });
});

describe("principals that are no strings", () => {
  interface User {
    readonly id: string;
  }
  const user: User = { id: "ada" };
  /** As JavaScript lets one forget principalId. */
  const serving = (more: Partial<McpServerOptions<User>>): McpServer<User> =>
    createMcpServer<User>(
      Object({
        identity: { name: "users", version: "1" },
        authorize: () => true,
        tools: [{ name: "t", description: "t", inputSchema: { type: "object" }, permission: "p", handler: () => "x" }],
        ...more,
      }),
    );
  const ask = async (server: McpServer<User>, method: string): Promise<unknown> => {
    const connection = server.openConnection({ send: () => undefined });
    const params = { protocolVersion: "2025-11-25", capabilities: {}, name: "t" };
    return server.handle({ jsonrpc: "2.0", id: 1, method, params }, { principal: user, connection });
  };

  it.each([["initialize"], ["tools/call"], ["ping"]])(
    "need principalId, from the first request on: %s",
    async (method) => {
      const events: unknown[] = [];
      const server = serving({ observers: [(event) => void events.push(event)] });
      await expect(ask(server, method)).rejects.toThrow(
        new TypeError(
          "the principal is no string: createMcpServer needs the option principalId, which tells principals apart",
        ),
      );
      expect(events).toEqual([]);
      expect(() => server.principalId(user)).toThrow("needs the option principalId");
    },
  );

  it("are refused before anything is served, where the principal is known", async () => {
    const server = serving({});
    const streams = { readable: new PassThrough(), writable: new PassThrough() };
    expect(() => serveStdio({ server, principal: user, ...streams })).toThrow("needs the option principalId");
    await expect(serveHttp({ server, principal: user, port: 0 })).rejects.toThrow("needs the option principalId");
    expect(() => createHttpHandler({ server, principal: user })).toThrow("needs the option principalId");
  });

  it("are served with it, and told apart by what it returns, which is a string", async () => {
    const server = serving({ principalId: ({ id }) => id });
    expect(await ask(server, "initialize")).toHaveProperty("result");
    expect(server.principalId(user)).toBe("ada");
    const broken = serving({ principalId: () => Object({ name: undefined }).name });
    expect(() => broken.principalId(user)).toThrow("principalId returned undefined; it has to be a string");
  });
});
