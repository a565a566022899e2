import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { endless, waitsForGo } from "../cells.js";
import { openMcp } from "./support/mcp-client.js";
import { type Served, serve } from "./support/served.js";

// What the original got wrong, by its description: each has a test here, or the file that has it is named.
let served: Served;
beforeAll(async () => {
  const limits = { maxCodeBytes: 2_048, maxOutputBytes: 1_024, interruptMs: 500 };
  served = await serve({ sessions: { limits }, doors: { limits: { maxBodyBytes: 4_096 } } });
});
afterEach(async () => {
  for (const { id } of served.sessions.list("local")) await served.sessions.get("local", id).stop();
});
afterAll(() => served[Symbol.asyncDispose]());

const path = "/v1/sessions/session";
const start = (session_id: string) => served.post(path, { session_id });
/** Of an event, not of a time that is over: those are a minute and more. A second is kept on a quiet machine only. */
const atOnceMs = 15_000;
/** Resolves when code runs in the session. */
const running = (id: string) =>
  expect.poll(() => served.sessions.status("local", id)?.busy, { timeout: 20_000 }).toBe(true);

describe("stopping a session whose code runs", () => {
  const cells = [
    { name: "sleeps", code: endless },
    { name: "ignores interrupts", code: "while True:\n  try:\n    while True: pass\n  except BaseException: pass" },
  ];
  it.each(cells)("ends code that $name within the grace, and its caller is told", async ({ code }) => {
    await start("busy");
    const call = served.post("/execute", { code, session_id: "busy" });
    await running("busy");
    const begun = performance.now();
    expect((await served.delete(`${path}?session_id=busy`)).json.status).toBe("stopped");
    expect(performance.now() - begun).toBeLessThan(atOnceMs);
    expect((await call).json).toMatchObject({ stdout: "", stderr: expect.stringMatching(/^Error: /) });
    expect((await start("busy")).status).toBe(201);
  });

  it("by the tool, from the MCP session that asked for the code, ends it too, and that call is told", async () => {
    const client = await openMcp(served);
    await client.call("start_python_session", { session_id: "busy" });
    const call = client.call("execute_python_code", { command: endless, session_id: "busy" });
    await running("busy");
    const begun = performance.now();
    const stopped = await client.call("stop_python_session", { session_id: "busy" });
    expect(performance.now() - begun).toBeLessThan(atOnceMs);
    expect(stopped.result.structuredContent.status).toBe("stopped");
    const told = await call;
    expect(told.result).toMatchObject({
      isError: false,
      structuredContent: { result: expect.stringMatching(/^Error: /) },
    });
    const again = await client.call("start_python_session", { session_id: "busy" });
    expect(again.result.structuredContent.status).toBe("active");
  });

  it("what waits behind it is refused, and was not run", async () => {
    await start("busy");
    const first = served.post("/execute", { code: endless, session_id: "busy" });
    await running("busy");
    const second = served.post("/execute", { code: "print('ran')", session_id: "busy" });
    await expect.poll(() => served.sessions.status("local", "busy")?.queued).toBe(1);
    await served.delete(`${path}?session_id=busy`);
    await first;
    expect((await second).json).toMatchObject({ stdout: "", stderr: expect.stringMatching(/^Error: /) });
  });
});

it("calls of one session run one at a time, in the order in which they came", async () => {
  await start("line");
  const inLine = (code: string) => served.post("/execute", { code, session_id: "line" });
  const calls = [inLine(`import asyncio; seen = []\n${waitsForGo}`)];
  await running("line");
  for (const n of [1, 2, 3, 4, 5]) {
    // Each gives others of its kind the chance to come between.
    calls.push(inLine(`seen.append(${n}); await asyncio.sleep(0); seen.append(-${n})`));
    await expect.poll(() => served.sessions.status("local", "line")?.queued).toBe(n);
  }
  await served.sessions.get("local", "line").files.write("go", new Uint8Array());
  await Promise.all(calls);
  expect((await inLine("seen")).json.stdout).toBe("[1, -1, 2, -2, 3, -3, 4, -4, 5, -5]");
});

it("five sessions that are all busy starve no call without one", async () => {
  const ids = ["a", "b", "c", "d", "e"];
  await Promise.all(ids.map(start));
  const calls = ids.map((session_id) => served.post("/execute", { code: endless, session_id }));
  await Promise.all(ids.map(running));
  expect((await served.post("/execute", { code: "'fed'" })).json.stdout).toBe("'fed'");
  await Promise.all(ids.map((id) => served.delete(`${path}?session_id=${id}`)));
  await Promise.all(calls);
});

it("calls without a session, however many are busy, keep nobody from a fifth session", async () => {
  // Each goes on when the test says so: REST calls that are given up are not ended.
  const folder = await mkdtemp(join(tmpdir(), "berth-busy-"));
  const gate = JSON.stringify(join(folder, "go"));
  const code = `import os, time\nwhile not os.path.exists(${gate}): time.sleep(0.005)`;
  const calls = Array.from({ length: 4 }, () => served.post("/execute", { code }));
  await expect.poll(() => served.sessions.counts().sessionless, { timeout: 20_000 }).toBe(4);
  const started = await Promise.all(["a", "b", "c", "d", "e"].map(start));
  expect(started.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
  await writeFile(join(folder, "go"), "");
  expect((await Promise.all(calls)).map(({ json }) => json.stderr)).toEqual(["", "", "", ""]);
  await rm(folder, { recursive: true });
});

it("calls without a session see nothing of each other", async () => {
  await served.post("/execute", { code: "left = 1; open('left.txt', 'w').write('x')" });
  const { json } = await served.post("/execute", {
    code: "import os; ('left' in globals(), os.path.exists('left.txt'))",
  });
  expect(json.stdout).toBe("(False, False)");
});

describe("a process that dies", () => {
  const deaths = [
    { name: "leaves", code: "import os; os._exit(3)" },
    { name: "is killed", code: "import os; os.kill(os.getpid(), 9)" },
    { name: "crashes", code: "import ctypes; ctypes.string_at(0)" },
  ];
  it.each(deaths)("because it $name is told at once, by both doors, and its session is gone", async ({ code }) => {
    const client = await openMcp(served);
    await start("dying");
    const begun = performance.now();
    const { json } = await served.post("/execute", { code, session_id: "dying" });
    expect(json.stderr).toMatch(/^Error: The Python process ended/);
    const told = await client.call("execute_python_code", { command: code });
    expect(told.result.structuredContent.result).toMatch(/^Error: The Python process ended/);
    expect(performance.now() - begun).toBeLessThan(atOnceMs);
    expect((await served.get(path)).json).toEqual({ sessions: [] });
    expect((await served.get(`${path}?session_id=dying`)).status).toBe(404);
    expect((await served.get("/v1/sessions/dying")).json).toMatchObject({ state: "dead" });
    expect((await start("dying")).status).toBe(201);
  });
});

describe("limits", () => {
  it("of code are named, by both doors", async () => {
    const code = `'${"x".repeat(3_000)}'`;
    const rest = await served.post("/execute", { code });
    expect([rest.status, rest.json.stderr]).toEqual([413, expect.stringContaining("the limit is 2048")]);
    const { result } = await (await openMcp(served)).call("execute_python_code", { command: code });
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("the limit is 2048") }] });
  });

  it("of a body are named", async () => {
    const { status, json } = await served.post("/execute", { code: "x".repeat(5_000) });
    expect([status, json.stderr]).toEqual([413, expect.stringContaining("4096 bytes")]);
  });

  it("of a body of MCP are named, too", async () => {
    const params = { name: "execute_python_code", arguments: { command: "x".repeat(5_000) } };
    const { status, json } = await served.post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params });
    expect([status, json.error]).toEqual([413, { code: -32600, message: expect.stringContaining("4096 bytes") }]);
  });

  it("of output are named, and the whole of it is a file of the session", async () => {
    await start("loud");
    const { json } = await served.post("/execute", { code: "print('x' * 5000)", session_id: "loud" });
    const [, spill = ""] =
      /truncated by maxOutputBytes: \d+ of 5001 bytes; .* in the file (\S+)\]/.exec(json.stdout) ?? [];
    const whole = await served.send(`/v1/sessions/loud/files/${spill}`);
    expect(await whole.text()).toBe(`${"x".repeat(5_000)}\n`);
  });
});

it("input() and the like are refused clearly, shell lines work, awaits work", async () => {
  expect((await served.post("/execute", { code: "input()" })).json.stderr).toMatch(/^Error: Execution Error:/);
  expect((await served.post("/execute", { code: "!echo shell" })).json.stdout).toBe("shell\n");
  expect(
    (await served.post("/execute", { code: "import asyncio\nawait asyncio.sleep(0, 'awaited')" })).json.stdout,
  ).toBe("'awaited'");
  await start("leaving");
  const leaving = (code: string) => served.post("/execute", { code, session_id: "leaving" });
  await leaving("kept = 1");
  expect((await leaving("raise SystemExit(2)")).json.stderr).toMatch(/^Error: Execution Error:\n[\s\S]*SystemExit/);
  expect((await leaving("kept")).json.stdout).toBe("1");
});

it("none of this was a fault of the server", () => {
  expect(served.faults).toEqual([]);
});
