import { describe, expect, it } from "vitest";
import { callOf, entryOf, makeCwd, makeEnvironment, openPlugin, processesOf } from "./plugins.js";

describe("what a plugin answers", () => {
  it("an allow allows", async () => {
    const plugin = await openPlugin(entryOf("Slow"));
    expect(await plugin.call(callOf({ ms: 1 }), {})).toMatchObject({ continueProcessing: true, violation: undefined });
  });

  it("a deny comes with its violation", async () => {
    const plugin = await openPlugin(entryOf("Deny"));
    expect(await plugin.call(callOf({}), {})).toMatchObject({
      continueProcessing: false,
      violation: { reason: "not today", description: "it is Monday", code: "MONDAY", details: { day: 1 } },
    });
  });

  it("a deny without a violation denies", async () => {
    const plugin = await openPlugin(entryOf("BareDeny"));
    expect(await plugin.call(callOf({}), {})).toMatchObject({ continueProcessing: false });
  });

  it("a changed payload arrives", async () => {
    const plugin = await openPlugin(entryOf("Modify"));
    expect(await plugin.call(callOf({ name: "t", args: {} }), {})).toMatchObject({
      modifiedPayload: { name: "t", args: { changed: true } },
    });
  });

  it("what it noted in its context arrives from a worker that tells it, and is absent from one that does not", async () => {
    const telling = await openPlugin(entryOf("Context"));
    expect(await telling.call(callOf({}), {})).toMatchObject({
      context: { state: { seen: 1 }, globalState: { shared: 2 } },
    });
    const silent = await openPlugin(entryOf("Echo"));
    expect(await silent.call(callOf({}), {})).toMatchObject({ context: undefined });
  });

  it.each([
    { name: "that raised", behaviour: "Fail", mode: "current", code: "WORKER_ERROR", text: /it does not work/u },
    {
      name: "that raised, in an old worker",
      behaviour: "Fail",
      mode: "old",
      code: "WORKER_ERROR",
      text: /it does not work/u,
    },
    {
      name: "that returned nothing",
      behaviour: "Nothing",
      mode: "current",
      code: "PROTOCOL_ERROR",
      text: /tool_pre_invoke returned nothing/u,
    },
    {
      name: "whose class cannot be imported",
      behaviour: "Missing",
      mode: "current",
      code: "WORKER_ERROR",
      text: /^import of `cpex_stub` failed: it has no class `Missing`$/u,
    },
  ])("a hook $name is an error", async ({ behaviour, mode, code, text }) => {
    const plugin = await openPlugin(entryOf(behaviour), { environment: makeEnvironment(mode) });
    await expect(plugin.call(callOf({}), {})).rejects.toMatchObject({ code, message: expect.stringMatching(text) });
    await expect(plugin.health({})).resolves.toMatchObject({ state: "ready" });
  });

  it("what a worker says is told in the words of the plugin's author, with what it said as the cause", async () => {
    const entry = entryOf("", { config: { class_name: "not_there.filters.Guard" } });
    const cwd = makeCwd();
    const plugin = await openPlugin(entry, { cwd });
    await expect(plugin.call(callOf({}), {})).rejects.toMatchObject({
      code: "WORKER_ERROR",
      message: `import of \`not_there.filters\` failed: No module named 'not_there' (there is no not_there in ${cwd}/plugins, nor in its environment)`,
      details: { step: "call" },
      cause: { code: "WORKER_ERROR", message: "Unexpected error: No module named 'not_there'" },
    });
  });

  it("an answer that is of no form names the hook", async () => {
    const plugin = await openPlugin(entryOf("Raw"));
    const text = '{"continue_processing":"maybe","request_id":"$ID"}\n';
    await expect(plugin.call(callOf({ text }), {})).rejects.toMatchObject({
      code: "PROTOCOL_ERROR",
      message: expect.stringContaining("tool_pre_invoke"),
    });
  });
});

describe("a plugin's processes", () => {
  it("one that dies is started anew, with the same questions", async () => {
    const plugin = await openPlugin(entryOf("Die", { capabilities: ["read_labels"] }));
    for (let n = 0; n < 2; n++)
      await expect(plugin.call(callOf({}), {})).rejects.toMatchObject({ code: "WORKER_DIED" });
    await expect(plugin.health({})).resolves.toMatchObject({ state: "ready" });
  });

  it("a pool runs as many calls beside each other, and no more", async () => {
    const config = { class_name: "cpex_stub.Echo", pool: 2 };
    const plugin = await openPlugin(entryOf("Echo", { config }));
    const replies = await Promise.all([1, 2, 3, 4].map((n) => plugin.call(callOf({ n }), {})));
    expect(new Set(replies.map(({ metadata }) => metadata?.["pid"])).size).toBeLessThanOrEqual(2);
    expect(await plugin.health({})).toMatchObject({ message: "its 2 workers run" });
  });

  it("of an old worker: one for each hook, since it runs the first that it was asked for", async () => {
    const entry = entryOf("Echo", { hooks: ["tool_pre_invoke", "tool_post_invoke"] });
    const plugin = await openPlugin(entry, { environment: makeEnvironment("old") });
    const hooks: unknown[] = [];
    for (const hook of ["tool_pre_invoke", "tool_post_invoke", "tool_pre_invoke"]) {
      hooks.push((await plugin.call(callOf({}, { hook }), {})).metadata?.["hook"]);
    }
    expect(hooks).toEqual(["tool_pre_invoke", "tool_post_invoke", "tool_pre_invoke"]);
  });

  it("get a listed environment and no other", async () => {
    const env = {
      PATH: "/usr/bin",
      LC_TIME: "C",
      PLUGINS_CONFIG_FILE: "p.yaml",
      AWS_SECRET: "x",
      PYTHONPATH: "/evil",
      LD_PRELOAD: "/evil.so",
    };
    const plugin = await openPlugin(entryOf("Environment"), { env });
    const { metadata } = await plugin.call(callOf({}), {});
    const seen = metadata?.["env"];
    expect(seen).toMatchObject({
      PATH: "/usr/bin",
      LC_TIME: "C",
      PLUGINS_CONFIG_FILE: "p.yaml",
      PYTHONIOENCODING: "utf-8",
    });
    expect(
      Object.keys(seen ?? {})
        .sort()
        .filter((name) => name !== "LC_CTYPE"),
    ).toEqual(["LC_TIME", "PATH", "PLUGINS_CONFIG_FILE", "PYTHONIOENCODING"]);
  });

  it("are gone after close, and the environment is let go after them; calls then fail", async () => {
    const environment = makeEnvironment();
    const plugin = await openPlugin(entryOf("Echo"), { environment });
    await plugin.call(callOf({}), {});
    expect(environment.closed()).toBe(0);
    await Promise.all([plugin.close(), plugin.close()]);
    expect(environment.closed()).toBe(1);
    await expect(plugin.call(callOf({}), {})).rejects.toMatchObject({ code: "WORKER_CLOSED" });
    expect(await plugin.health({})).toMatchObject({ state: "failed" });
  });

  it.each([
    { name: "left one behind with all pipes", behaviour: "Fork", payload: {} },
    { name: "left one behind and died", behaviour: "Fork", payload: { die: true } },
    { name: "hangs, deaf to SIGTERM", behaviour: "Hang", payload: {} },
    { name: "crashed", behaviour: "Segfault", payload: {} },
  ])("of a plugin that $name: none is left after close", async ({ behaviour, payload }) => {
    const environment = makeEnvironment();
    const config = { class_name: `cpex_stub.${behaviour}`, timeout_secs: 0.5 };
    const plugin = await openPlugin(entryOf(behaviour, { config }), { environment });
    expect(processesOf(environment.path)).not.toBe(0);
    await plugin.call(callOf(payload), {}).catch(() => undefined);
    await plugin.close();
    expect(processesOf(environment.path)).toBe(0);
  });

  it("timeout_secs of the entry bounds a call", async () => {
    const plugin = await openPlugin(entryOf("Slow", { config: { class_name: "cpex_stub.Slow", timeout_secs: 0.2 } }));
    await expect(plugin.call(callOf({ ms: 30_000 }), {})).rejects.toMatchObject({
      code: "WORKER_TIMEOUT",
      details: { timeoutMs: 200 },
    });
  });

  it("max_content_size of the entry reaches the worker too: a task of just that size works", async () => {
    const config = { class_name: "cpex_stub.Slow", max_content_size: 4_000 };
    const plugin = await openPlugin(entryOf("Slow", { config }), { limits: { callTimeoutMs: 10_000 } });
    await plugin.call(callOf({ ms: 1 }), {});
    let fill = 4_000;
    const send = (): Promise<unknown> => plugin.call(callOf({ ms: 1, fill: "x".repeat(fill) }), {});
    const refusal: unknown = await send().catch((error: unknown) => error);
    const size = refusal instanceof Error && "details" in refusal ? JSON.stringify(refusal.details) : "";
    fill -= Number(/"sizeBytes":(\d+)/u.exec(size)?.[1]) - 4_000;
    expect(await send()).toMatchObject({ continueProcessing: true });
    fill += 1;
    await expect(send()).rejects.toMatchObject({ code: "TASK_TOO_LARGE", details: { sizeBytes: 4_001 } });
  });
});
