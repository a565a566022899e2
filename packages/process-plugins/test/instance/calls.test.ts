import { expect, it } from "vitest";
import { rejection } from "../support/rejection.js";
import { holdTimers } from "./held-scheduler.js";
import { mcpParams, observe, pythonPlugin, whenAsked } from "./scripted-plugin.js";

it.each([{ allowUnconfined: false }, { allowUnconfined: true }])(
  "a plugin is created, asked, stopped and destroyed, and each step is told: $allowUnconfined",
  async (options) => {
    const { open, events } = await observe(pythonPlugin(""));
    const instance = await open(options);
    const confinement = options.allowUnconfined ? "unconfined" : "bubblewrap";
    expect(instance).toMatchObject({ state: "running", name: "smoke", confinement });
    expect(instance.capabilities).toEqual({ mcp: true, health: true, hooks: ["tool_pre_invoke"] });
    expect(await instance.health()).toEqual({ status: "ok", detail: undefined });
    expect(await instance.request("tools/call", mcpParams({ name: "echo", arguments: { a: 1 } }))).toEqual({
      resultType: "complete",
      content: [{ type: "text", text: '{"a": 1}' }],
    });
    await instance.close();
    const message = "plugin smoke was stopped and has ended";
    expect(await instance.ended).toEqual({
      ...{ reason: "destroyed", message, code: 0, signal: undefined, confirmed: true },
    });
    expect(instance.state).toBe("destroyed");
    expect(events).toMatchObject([
      { type: "plugin.admitted", instance: instance.id, confinement, limits: [] },
      { type: "plugin.started", instance: instance.id },
      { type: "plugin.ended", instance: instance.id, reason: "destroyed", confirmed: true, code: 0, stderrBytes: 0 },
    ]);
    expect((await rejection(instance.request("tools/call", mcpParams()))).code).toBe("PLUGIN_NOT_RUNNING");
  },
);

it("a hook is run with what it was given, and one that the plugin does not take is refused", async () => {
  const { open } = await observe(pythonPlugin(""));
  const instance = await open();
  const call = { hook_type: "tool_pre_invoke", payload: { n: [1] }, context: {} };
  expect(await instance.invokeHook(call)).toEqual({ continue_processing: true, seen: call });
  const refused = await rejection(instance.invokeHook({ ...call, hook_type: "other" }));
  expect(refused).toMatchObject({ code: "REQUEST_INVALID", wire: { code: -32602 } });
});

it("an error answer is told with its wire form, and its text is in no message", async () => {
  const { open } = await observe(whenAsked("tools/call", 'refuse(request, -32602, "Unknown tool: x")'));
  const instance = await open();
  const error = await rejection(instance.request("tools/call", mcpParams()));
  expect(error).toMatchObject({ code: "PLUGIN_ANSWERED_ERROR", wire: { code: -32602, message: "Unknown tool: x" } });
  expect(error.message).toBe("plugin smoke answered tools/call with error -32602");
});

it("that the plugin failed is told to its operator with its words, and an error that its caller made is not", async () => {
  const { open, lines } = await observe(
    whenAsked("tools/call", 'refuse(request, -32603 if "fail" in request["params"] else -32602, "no \\u001b[2Jdisk")'),
  );
  const instance = await open();
  await rejection(instance.request("tools/call", mcpParams()));
  await rejection(instance.request("tools/call", mcpParams({ fail: true })));
  const text = "it answered tools/call with the error -32603: no \\u001b[2Jdisk";
  expect(lines).toEqual([{ from: "log", level: "warn", text }]);
});

it("messages, events and errors have the name that the host gave, and the plugin is told its own", async () => {
  const { open, events } = await observe(whenAsked("tools/call", "print('}', flush=True)"));
  const instance = await open({ name: "garbage" });
  expect(instance.name).toBe("garbage");
  const error = await rejection(instance.request("tools/call", mcpParams()));
  expect(error).toMatchObject({ plugin: "garbage", message: expect.stringMatching(/^plugin garbage wrote a line/) });
  expect((await instance.ended).message).toMatch(/^plugin garbage wrote a line/);
  expect(events.map(({ plugin }) => plugin)).toEqual(events.map(() => "garbage"));
});

it("what the gate refuses, and what is too large or too deep, is sent to nobody", async () => {
  const { open } = await observe(whenAsked("tools/list", 'answer(request, {"never": True})'));
  const instance = await open({ limits: { maxMessageBytes: 2_048 } });
  let deep: object = {};
  for (let n = 0; n < 200; n += 1) deep = { deep };
  expect(await rejection(instance.request("tools/list", {}))).toMatchObject({
    code: "REQUEST_INVALID",
    wire: { code: -32602 },
  });
  for (const params of [{ text: "x".repeat(3_000) }, JSON.parse(JSON.stringify(deep))]) {
    expect((await rejection(instance.request("tools/call", mcpParams(params)))).code).toBe("REQUEST_INVALID");
    const hook = { hook_type: "tool_pre_invoke", payload: params, context: {} };
    expect((await rejection(instance.invokeHook(hook))).code).toBe("REQUEST_INVALID");
  }
  expect(await instance.health()).toMatchObject({ status: "ok" });
});

/** Keeps a call until the next one, and answers that first. */
const answersLater = pythonPlugin(`
kept = None
for request in requests():
    method = request["method"]
    if method == "notifications/cancelled": log("info", "cancelled " + str(request["params"]["requestId"]))
    elif method == "tools/call" and kept is None: kept = request
    elif method == "tools/call":
        usual(kept)
        usual(request)
    else: usual(request)
`);

it("a call that is not answered in time is given up, and its late answer is passed over", async () => {
  const { scheduler, fire } = holdTimers(12_345);
  const { open, lines } = await observe(answersLater);
  const instance = await open({ timeouts: { callMs: 12_345 }, scheduler });
  const first = rejection(instance.request("tools/call", mcpParams()));
  await instance.health(); // and so the call was sent
  expect(fire()).toBe(1);
  expect((await first).code).toBe("PLUGIN_TIMEOUT");
  expect(await instance.request("tools/call", mcpParams({ arguments: 2 }))).toMatchObject({
    content: [{ type: "text", text: "2" }],
  });
  expect(instance.state).toBe("running");
  expect(lines.map(({ text }) => text)).toEqual(["cancelled 3"]);
});

it("a call that is aborted is cancelled at the plugin, and rejects with the signal's reason", async () => {
  const { open, lines } = await observe(answersLater);
  const instance = await open();
  const abort = new AbortController();
  const first = instance.request("tools/call", mcpParams(), { signal: abort.signal });
  await instance.health();
  const reason = new Error("enough");
  abort.abort(reason);
  await expect(first).rejects.toBe(reason);
  await expect(instance.health({ signal: abort.signal })).rejects.toBe(reason);
  expect(await instance.request("tools/call", mcpParams({ arguments: 2 }))).toMatchObject({ resultType: "complete" });
  expect(lines.map(({ text }) => text)).toEqual(["cancelled 3"]);
});

it("a plugin that ends fails all its calls at once, and none is sent again", async () => {
  const { open, dataFolder } = await observe(
    whenAsked(
      "tools/call",
      `
with open(os.environ["PLUGIN_DATA"] + "/calls", "a") as calls: calls.write("x")
if request["params"]["last"]: os._exit(9)`,
    ),
  );
  const instance = await open();
  const calls = [false, false, true].map((last) => rejection(instance.request("tools/call", mcpParams({ last }))));
  for (const { code } of await Promise.all(calls)) expect(code).toBe("PLUGIN_EXITED");
  await instance.ended;
  const { readFileSync } = await import("node:fs");
  expect(readFileSync(`${dataFolder}/calls`, "utf8")).toBe("xxx");
});

it("a busy plugin can still be asked for its health, stopped and destroyed; one call more is refused", async () => {
  const { open } = await observe(whenAsked("tools/call", "pass"));
  const instance = await open({ limits: { maxCalls: 1 } });
  const first = rejection(instance.request("tools/call", mcpParams()));
  expect((await rejection(instance.request("tools/call", mcpParams()))).code).toBe("TOO_MANY_CALLS");
  expect(await instance.health()).toMatchObject({ status: "ok" });
  await instance.close();
  expect((await first).code).toBe("PLUGIN_EXITED");
  expect((await instance.ended).reason).toBe("destroyed");
});

it("a plugin that never reads costs what is bounded, and its end does not wait for it", async () => {
  const { open } = await observe(
    pythonPlugin(`
for request in requests():
    usual(request)
    if request["method"] == "ave/instance/start": time.sleep(600)
`),
  );
  const timeouts = { stopMs: 200, exitMs: 200, terminateMs: 200 };
  const instance = await open({ limits: { maxMessageBytes: 65_536 }, timeouts });
  const text = "x".repeat(60_000);
  const calls = Array.from({ length: 60 }, () => rejection(instance.request("tools/call", mcpParams({ text }))));
  const codes = new Set<string>();
  void Promise.all(calls.map((call) => call.then(({ code }) => codes.add(code))));
  expect((await Promise.race(calls)).code).toBe("TOO_MANY_CALLS");
  await instance.close();
  await Promise.all(calls);
  expect([...codes].sort()).toEqual(["PLUGIN_EXITED", "TOO_MANY_CALLS"]);
  expect(await instance.ended).toMatchObject({ reason: "timeout", confirmed: true });
});

it("what it writes for its operator is escaped, cut at a character, and counted", async () => {
  const { open, lines } = await observe(
    pythonPlugin(`
log("info", "\\u001b[2J" + "é" * 60)
log("loud", "x")
log("warn", 5)
say({"jsonrpc": "2.0", "method": "ave/instance/unknown"})
os.write(2, b"err\\x1b\\xff\\r\\n" + b"y" * 200 + b"\\nlast")
`),
  );
  const instance = await open({ limits: { maxLogBytes: 101 } });
  await instance.close();
  expect(lines.filter(({ from }) => from === "stderr").map(({ text }) => text)).toEqual([
    "err\\u001b\ufffd",
    "y".repeat(101),
    "last",
  ]);
  expect(lines.filter(({ from }) => from === "log").map(({ level, text }) => `${level} ${text}`)).toEqual([
    `info \\u001b[2J${"é".repeat(48)}`,
    "warn it sent a notification that is for nobody",
    "warn 3 notifications of it were for nobody",
  ]);
  expect(instance.stderrBytes).toBe(3 + 1 + 1 + 2 + 200 + 1 + 4);
});

it("a flood of its log is bounded, told, and costs no call", async () => {
  const { open, lines } = await observe(
    whenAsked("tools/call", 'for n in range(20000): log("debug", "line " + str(n))\nusual(request)'),
  );
  const instance = await open({ limits: { maxLogLinesPerSecond: 5 } });
  expect(await instance.request("tools/call", mcpParams({ arguments: 1 }))).toMatchObject({ resultType: "complete" });
  await instance.close();
  const left = lines.flatMap(({ text }) => /^(\d+) more lines in this second were left out$/.exec(text)?.[1] ?? []);
  const told = lines.length - left.length;
  expect(told + left.reduce((sum, count) => sum + Number(count), 0)).toBe(20_000);
  expect(left.length).toBeGreaterThan(0);
});

it("clients of its MCP half are answered beside the host, and closed when it ends", async () => {
  const { open } = await observe(pythonPlugin(""));
  const instance = await open();
  const client = instance.openMcp();
  const frames: string[] = [];
  const closed = new Promise<Error | undefined>((resolve) => {
    client.start({
      onFrame: ({ bytes }) => void frames.push(Buffer.from(bytes).toString("utf8")),
      onFault: () => {},
      onClose: resolve,
    });
  });
  const params = mcpParams({ arguments: 7 });
  await client.send(Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: "mine", method: "tools/call", params })));
  await instance.request("tools/call", params);
  expect(JSON.parse(frames[0] ?? "")).toMatchObject({ id: "mine", result: { content: [{ text: "7" }] } });
  await instance.close();
  expect(await closed).toMatchObject({ code: "PLUGIN_EXITED" });
});
