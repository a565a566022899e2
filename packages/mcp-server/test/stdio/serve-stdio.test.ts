import { spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { serveStdio } from "../../src/stdio.js";
import { aborted, heldServer } from "../support/held.js";
import { pipe, request, toolCall } from "../support/piped.js";
import { sampleServer } from "../support/sample.js";

const program = fileURLToPath(new URL("../programs/sample-server.mjs", import.meta.url));

/** Runs the sample server with this input; resolves when it has ended. */
async function run(
  input: readonly unknown[],
  { args = [], end = true }: { args?: readonly string[]; end?: boolean } = {},
): Promise<{ code: number | null; lines: Record<string, unknown>[]; stderr: string; tookMs: number }> {
  const child = spawn(process.execPath, [program, ...args], { stdio: "pipe", signal: AbortSignal.timeout(20_000) });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  child.stdin.write(
    input.map((message) => `${typeof message === "string" ? message : JSON.stringify(message)}\n`).join(""),
  );
  const started = performance.now();
  if (end) child.stdin.end();
  const [code] = await once(child, "close");
  const lines = stdout.split("\n").filter((line) => line !== "");
  return { code, lines: lines.map((line) => JSON.parse(line)), stderr, tookMs: performance.now() - started };
}

describe("options of serveStdio are refused at the start", () => {
  const right = { server: sampleServer(), principal: "ada", readable: new PassThrough(), writable: new PassThrough() };
  it.each<{ name: string; given: unknown; text: string }>([
    { name: "no server", given: { server: undefined }, text: "server is missing; it has to be what createMcpServer" },
    { name: "a server's options", given: { server: { tools: [] } }, text: "server is an object; it has to be what" },
    { name: "a promise of a server", given: { server: Promise.resolve() }, text: "server is a promise: await it" },
    { name: "nobody", given: { principal: undefined }, text: "principal is missing; it has to be somebody" },
    { name: "null", given: { principal: null }, text: "principal is null; it has to be somebody" },
    {
      name: "a promise of a principal",
      given: { principal: Promise.resolve() },
      text: "principal is a promise: await",
    },
    { name: "a misspelled option", given: { log: () => 1 }, text: 'there is no option "log"' },
    {
      name: "a readable that is none",
      given: { readable: {} },
      text: "readable is an object; it has to be a readable",
    },
    { name: "a writable that is none", given: { writable: "x" }, text: "writable is a text; it has to be a writable" },
    {
      name: "a readable that decodes",
      given: { readable: new PassThrough({ encoding: "utf8" }) },
      text: "the readable decodes text",
    },
    { name: "limits that are none", given: { limits: 1 }, text: "limits is 1; it has to be an object" },
    { name: "a misspelled limit", given: { limits: { maxFrame: 1 } }, text: 'there is no limit "maxFrame"' },
    {
      name: "a misspelled decision",
      given: { onUnexpectedError: "contine" },
      text: 'onUnexpectedError is a text; it has to be "exit", "continue" or a function',
    },
    { name: "a logger that is none", given: { logger: {} }, text: "logger is an object; it has to be a function" },
    {
      name: "a text for a flag",
      given: { exitProcess: "no" },
      text: "exitProcess is a text; it has to be true or false",
    },
  ])("$name", ({ given, text }) => {
    expect(() => serveStdio(Object.assign({ ...right }, given))).toThrow(text);
  });
});

describe("a stdio server as a process", () => {
  it("answers what came before the end of its input, and ends with 0 although a timer runs", async () => {
    const { code, lines, tookMs } = await run([
      toolCall(1, "echo", { text: "hi" }),
      toolCall(2, "later"),
      toolCall(3, "slow"),
      request(4, "subscriptions/listen", { notifications: {} }),
    ]);
    expect(code).toBe(0);
    expect(lines.filter((line) => "id" in line).map(({ id }) => id)).toEqual([1, 2]);
    expect(tookMs).toBeLessThan(4_000);
  });

  it("keeps prints of the application out of the protocol", async () => {
    const { lines, stderr } = await run([toolCall(1, "prints")]);
    expect(lines).toMatchObject([{ id: 1, result: { content: [{ text: "printed" }] } }]);
    expect(stderr).toBe("a print of the application\nand another\n");
  });

  it("answers an unexpected error without its text, logs it, finishes other work, and ends with 1", async () => {
    const { code, lines, stderr } = await run([toolCall(1, "later"), toolCall(2, "breaks")], { end: false });
    expect(code).toBe(1);
    expect(lines).toMatchObject([
      { id: 2, error: { code: -32603, message: "Internal error" } },
      { id: 1, result: { content: [{ text: "later" }] } },
    ]);
    expect(JSON.stringify(lines)).not.toContain("hunter2");
    expect(stderr).toContain(
      "unexpected error in tools/call; the server stops with code 1 (see onUnexpectedError): Error: the password",
    );
  });

  it("goes on when nobody reads what is printed", async () => {
    const child = spawn(process.execPath, [program], { stdio: "pipe", signal: AbortSignal.timeout(20_000) });
    child.stderr.destroy();
    let stdout = "";
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    child.stdin.write(`${JSON.stringify(toolCall(1, "prints"))}\n`);
    child.stdin.write(`${JSON.stringify(toolCall(2, "prints"))}\n`);
    while (stdout.split("\n").length < 3) await once(child.stdout, "data");
    child.stdin.end(`${JSON.stringify(toolCall(3, "echo", { text: "x" }))}\n`);
    const [code] = await once(child, "close");
    expect([code, stdout.split("\n").length]).toEqual([0, 4]);
  });

  it("goes on after an unexpected error when it is told to", async () => {
    const input = [toolCall(1, "breaks"), toolCall(2, "echo", { text: "still here" })];
    const { code, lines, stderr } = await run(input, { args: ["continue"] });
    expect(code).toBe(0);
    expect(stderr).toContain("unexpected error in tools/call: Error: the password is hunter2");
    expect(lines).toMatchObject([
      { id: 1, error: {} },
      { id: 2, result: { content: [{ text: "still here" }] } },
    ]);
  });

  it("ends with 1 when its input ends inside a message, which is not processed", async () => {
    const child = spawn(process.execPath, [program], { stdio: "pipe", signal: AbortSignal.timeout(20_000) });
    child.stdin.end(JSON.stringify(toolCall(1, "echo", { text: "x" })));
    let stdout = "";
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    const [code] = await once(child, "close");
    expect([code, stdout]).toEqual([1, ""]);
  });

  it("ends when the client no longer reads", async () => {
    const child = spawn(process.execPath, [program], { stdio: "pipe", signal: AbortSignal.timeout(20_000) });
    child.stdin.on("error", () => undefined);
    child.stdout.destroy();
    let stderr = "";
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    child.stdin.write(`${JSON.stringify(toolCall(1, "echo", { text: "x" }))}\n`);
    const [code] = await once(child, "close");
    expect([code, stderr]).toEqual([0, ""]);
  });
});

describe("serveStdio over streams of the caller", () => {
  it("leaves them open, and aborts what is under way when the input ends", async () => {
    const served = pipe(sampleServer());
    served.send(toolCall(1, "waits"), toolCall(2, "sum"));
    await served.written(1);
    served.input.end();
    expect(await served.ended).toEqual({ code: 0 });
    expect(served.lines.map((line) => line["id"])).toEqual([2]);
    expect([served.output.writable, served.output.destroyed]).toEqual([true, false]);
    expect(served.output.listenerCount("drain") + served.input.listenerCount("data")).toBe(0);
  });

  it("does not wait longer than drainMs for a handler that ignores its signal", async () => {
    const { createMcpServer } = await import("../../src/index.js");
    const server = createMcpServer<string>({
      identity: { name: "stuck", version: "1" },
      authorize: () => true,
      tools: [
        {
          name: "stuck",
          description: "never ends",
          permission: "use",
          inputSchema: { type: "object" },
          handler: () => new Promise(() => undefined),
        },
      ],
    });
    const served = pipe(server, { limits: { drainMs: 30 } });
    served.send(toolCall(1, "stuck"));
    await new Promise(setImmediate);
    served.input.end();
    expect(await served.ended).toEqual({ code: 0 });
  });

  it("asks the function that decides about an unexpected error", async () => {
    const seen: unknown[] = [];
    const served = pipe(sampleServer(), {
      onUnexpectedError: (error) => {
        seen.push(error);
        return seen.length < 2 ? "continue" : "exit";
      },
    });
    served.send(toolCall(1, "breaks"));
    await served.written(1);
    served.send(toolCall(2, "breaks"));
    expect(await served.ended).toEqual({ code: 1 });
    expect(served.lines).toMatchObject([
      { id: 1, error: { code: -32603 } },
      { id: 2, error: { code: -32603 } },
    ]);
    expect(seen.map(String)).toEqual(["Error: the password is hunter2", "Error: the password is hunter2"]);
  });

  it.each([
    { name: "throws", decide: () => JSON.parse("{") },
    { name: "returns something else", decide: () => JSON.parse('"contine"') },
    { name: "returns a promise", decide: () => Object.assign(JSON.parse("{}"), Promise.resolve("continue")) },
    { name: "returns nothing", decide: () => JSON.parse("null") },
  ])("stops when the function that decides $name", async ({ decide }) => {
    const served = pipe(sampleServer(), { onUnexpectedError: decide });
    served.send(toolCall(1, "breaks"));
    expect(await served.ended).toEqual({ code: 1 });
    expect(served.logged).toEqual([
      "unexpected error in tools/call; the server stops with code 1 (see onUnexpectedError)",
    ]);
  });

  it("stops when the function that decides is async, which TypeScript does not let pass", async () => {
    // @ts-expect-error what it decides would come too late
    const served = pipe(sampleServer(), { onUnexpectedError: async () => "continue" });
    served.send(toolCall(1, "breaks"));
    expect(await served.ended).toEqual({ code: 1 });
  });

  it("stops, or goes on, as it would when its logger throws", async () => {
    const logger = (): never => {
      throw new Error("the log is full");
    };
    const served = pipe(sampleServer(), { onUnexpectedError: "continue", logger });
    served.send(toolCall(1, "breaks"), toolCall(2, "sum"));
    await served.written(2);
    served.input.end();
    expect(await served.ended).toEqual({ code: 0 });
  });

  it("leaves progress out when the client does not keep up, and says so at the end; never an answer", async () => {
    const { createMcpServer } = await import("../../src/index.js");
    const server = createMcpServer<string>({
      identity: { name: "chatty", version: "1" },
      authorize: () => true,
      tools: [
        {
          name: "chat",
          description: "tells much",
          permission: "use",
          inputSchema: { type: "object" },
          handler: ({ progress }) => {
            for (let step = 0; step < 10_000; step++) progress(step, 10_000, "x".repeat(100));
            return "told";
          },
        },
      ],
    });
    const served = pipe(server, { limits: { maxQueuedBytes: 10_000 } });
    const call = JSON.stringify(toolCall(1, "chat")).replace('"_meta":{', '"_meta":{"progressToken":"t",');
    served.send(JSON.parse(call));
    const signal = AbortSignal.timeout(10_000);
    while (!served.lines.some(({ id }) => id === 1)) {
      signal.throwIfAborted();
      await new Promise(setImmediate);
    }
    served.input.end();
    await served.ended;
    expect(served.lines.length).toBeLessThan(200);
    expect(served.logged).toEqual([
      `${10_000 - served.lines.length + 1} notifications were left out: the client did not keep up`,
    ]);
  });

  it("says farewell to listeners when it stops by itself", async () => {
    const served = pipe(sampleServer());
    served.send(request("s", "subscriptions/listen", { notifications: { toolsListChanged: true } }));
    await served.written(1);
    served.send(toolCall(1, "breaks"));
    await served.ended;
    expect(served.lines.slice(1)).toMatchObject([
      { id: 1, error: {} },
      { method: "notifications/cancelled", params: { requestId: "s" } },
      { id: "s", result: { resultType: "complete" } },
    ]);
  });

  it("stops when its signal is aborted: finishes what is under way, says farewell, and reads nothing more", async () => {
    const { server, taken } = heldServer();
    const stopping = new AbortController();
    const served = pipe(server, { signal: stopping.signal });
    served.send(request("s", "subscriptions/listen", { notifications: {} }), toolCall(1, "held"));
    const { call, release } = await taken();
    stopping.abort();
    served.send(toolCall(2, "sum"));
    expect(call.signal.aborted).toBe(false);
    release();
    expect(await served.ended).toEqual({ code: 0 });
    expect(served.lines.slice(1)).toMatchObject([
      { id: 1, result: { content: [{ text: "released" }] } },
      { method: "notifications/cancelled", params: { requestId: "s" } },
      { id: "s", result: { resultType: "complete" } },
    ]);
    expect(served.output.listenerCount("drain") + served.input.listenerCount("data")).toBe(0);
  });

  it("aborts after drainMs what is under way when its signal was aborted, and serves nothing by one that was aborted before", async () => {
    const { server, taken } = heldServer();
    const stopping = new AbortController();
    const served = pipe(server, { signal: stopping.signal, limits: { drainMs: 30 } });
    served.send(toolCall(1, "held"));
    const { call } = await taken();
    stopping.abort();
    expect(await served.ended).toEqual({ code: 0 });
    expect([call.signal.aborted, served.lines]).toEqual([true, []]);
    const late = pipe(server, { signal: AbortSignal.abort() });
    late.send(toolCall(1, "sum"));
    expect(await late.ended).toEqual({ code: 0 });
    expect(late.lines).toEqual([]);
  });

  it("answers within endOfInputMs what was asked before the input ended, also what waits for its turn", async () => {
    const { server, taken } = heldServer();
    const served = pipe(server, { limits: { endOfInputMs: 10_000, maxInFlight: 1 } });
    served.send(request("s", "subscriptions/listen", { notifications: {} }), toolCall(1, "held"), toolCall(2, "held"));
    const { call, release } = await taken();
    served.input.end();
    await once(served.input, "end");
    expect(call.signal.aborted).toBe(false);
    release("first");
    (await taken()).release("second");
    expect(await served.ended).toEqual({ code: 0 });
    expect(served.lines.slice(1)).toMatchObject([
      { id: 1, result: { content: [{ text: "first" }] } },
      { id: 2, result: { content: [{ text: "second" }] } },
    ]);
  });

  it("aborts after endOfInputMs what is under way, and at once when its signal is aborted meanwhile", async () => {
    const { server, taken } = heldServer();
    const late = pipe(server, { limits: { endOfInputMs: 30 } });
    late.send(toolCall(1, "held"));
    const { call, release } = await taken();
    late.input.end();
    await aborted(call.signal);
    release("after all");
    expect(await late.ended).toEqual({ code: 0 });
    expect(late.lines).toMatchObject([{ id: 1, result: { content: [{ text: "after all" }] } }]);

    const stopping = new AbortController();
    const stopped = pipe(server, { limits: { endOfInputMs: 600_000, drainMs: 30 }, signal: stopping.signal });
    stopped.send(toolCall(1, "held"));
    const second = await taken();
    stopped.input.end();
    await once(stopped.input, "end");
    stopping.abort();
    expect(second.call.signal.aborted).toBe(true);
    expect(await stopped.ended).toEqual({ code: 0 });
  });

  it("fails what it would ask of a client that has ended its input", async () => {
    const served = pipe(sampleServer(), { limits: { endOfInputMs: 600_000 } });
    const legacy = (id: number, method: string, params: object): object => ({ jsonrpc: "2.0", id, method, params });
    const asks = (id: number): object => legacy(id, "tools/call", { name: "asks" });
    served.send(legacy(0, "initialize", { protocolVersion: "2025-11-25", capabilities: { elicitation: {} } }), asks(1));
    await served.written(2);
    served.input.end(`${JSON.stringify(asks(2))}\n`);
    expect(await served.ended).toEqual({ code: 0 });
    const answers = served.lines.filter(({ id, method }) => method === undefined && id !== 0);
    expect(answers).toMatchObject(
      [1, 2].map((id) => ({ id, error: { code: -32603, message: expect.stringContaining("ended its input") } })),
    );
  });

  it("reads the client's answers while requests wait for them", async () => {
    const served = pipe(sampleServer(), { limits: { maxInFlight: 1, maxQueued: 1 } });
    const legacy = (id: number, method: string, params: object): object => ({ jsonrpc: "2.0", id, method, params });
    served.send(legacy(0, "initialize", { protocolVersion: "2025-11-25", capabilities: { elicitation: {} } }));
    await served.written(1);
    const asks = (id: number): object => legacy(id, "tools/call", { name: "asks" });
    served.send(asks(1));
    await served.written(2);
    served.send(asks(2), asks(3));
    await served.written(3);
    expect(served.lines[2]).toMatchObject({ id: 3, error: { code: -32603, data: { limit: 1 } } });
    let at = 1;
    for (let asked = 1; asked <= 4; asked++) {
      while (served.lines[at]?.["method"] !== "elicitation/create") {
        await served.written(at + 1);
        if (served.lines[at]?.["method"] !== "elicitation/create") at += 1;
      }
      const content = { name: "n", place: "p" };
      served.send({ jsonrpc: "2.0", id: served.lines[at]?.["id"], result: { action: "accept", content } });
      at += 1;
    }
    const answers = (await served.written(8)).filter((line) => "result" in line).map(({ id }) => id);
    expect(answers).toEqual([0, 1, 2]);
  });

  it("reads on when a handler begins to ask the client after reading had stopped", async () => {
    const served = pipe(sampleServer(), { limits: { maxInFlight: 1, maxQueued: 1 } });
    const legacy = (id: number, method: string, params: object): object => ({ jsonrpc: "2.0", id, method, params });
    served.send(
      legacy(0, "initialize", { protocolVersion: "2025-11-25", capabilities: { elicitation: {} } }),
      legacy(1, "tools/call", { name: "asks" }),
      legacy(2, "tools/list", {}),
      legacy(3, "tools/list", {}),
    );
    await served.written(2);
    for (const [asked, line] of [1, 2].entries()) {
      await served.written(asked + 2);
      const question = served.lines[asked + 1];
      expect(question).toMatchObject({ id: line, method: "elicitation/create" });
      const content = { name: "n", place: "p" };
      served.send({ jsonrpc: "2.0", id: line, result: { action: "accept", content } });
    }
    const answers = (await served.written(6)).filter((line) => "result" in line).map(({ id }) => id);
    expect(answers).toEqual([0, 1, 2, 3]);
  });
});
