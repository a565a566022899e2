import { expect, it } from "vitest";
import type { PluginMode } from "../../src/executor.js";
import { allow, deny, hostOf, payload, requestOf, runOver, type TestPlugin } from "./hosts.js";

const MODES: readonly PluginMode[] = ["sequential", "transform", "audit", "concurrent", "fire_and_forget"];

it("runs phases in their order, then by priority, then by place in the file", async () => {
  const ran: string[] = [];
  const plugin = (name: string, mode: PluginMode, priority = 100): TestPlugin => ({
    name,
    mode,
    priority,
    does: () => {
      ran.push(name);
      return {};
    },
  });
  const host = hostOf([
    plugin("f", "fire_and_forget"),
    plugin("c", "concurrent"),
    plugin("a", "audit"),
    plugin("t", "transform"),
    plugin("s-late", "sequential", 200),
    plugin("s-1", "sequential"),
    plugin("s-2", "sequential"),
    plugin("s-early", "sequential", 1),
  ]);
  const order = ["s-early", "s-1", "s-2", "s-late", "t", "a", "c", "f"];
  expect(host.list().map(({ name }) => name)).toEqual(order);
  const outcome = await host.run(requestOf());
  await host.close();
  expect(ran).toEqual(order);
  expect(outcome.executions.map(({ plugin: name, status }) => [name, status])).toEqual(
    order.map((name) => [name, name === "f" ? "started" : "allowed"]),
  );
});

it.each([
  { mode: "sequential" as const, allowed: false },
  { mode: "transform" as const, allowed: true },
  { mode: "audit" as const, allowed: true },
  { mode: "concurrent" as const, allowed: false },
  { mode: "fire_and_forget" as const, allowed: true },
])("lets a deny of a $mode plugin count or not", async ({ mode, allowed }) => {
  const outcome = await runOver([{ name: "p", mode, does: deny("NO") }]);
  expect(outcome.allowed).toBe(allowed);
  expect(outcome.violation?.code).toBe(allowed ? undefined : "NO");
  expect(outcome.violation?.plugin).toBe(allowed ? undefined : "p");
});

it.each(MODES.map((mode) => ({ mode, changes: mode === "sequential" || mode === "transform" })))(
  "lets a $mode plugin change the payload or not",
  async ({ mode, changes }) => {
    const does = () => ({ modified_payload: { name: "sub", args: {} }, modified_extensions: { custom: { by: "p" } } });
    const outcome = await runOver([{ name: "p", mode, does }], { extensions: { custom: {} } });
    expect(outcome.payload["name"]).toBe(changes ? "sub" : "add");
    expect(outcome.extensions?.custom).toEqual(changes ? { by: "p" } : {});
    if (mode !== "fire_and_forget") expect(outcome.executions[0]?.status).toBe(changes ? "modified" : "allowed");
  },
);

it("shows each plugin what those before it changed, and gives back the same objects when nobody changed any", async () => {
  const seen: unknown[] = [];
  const add =
    (key: string): TestPlugin["does"] =>
    (call) => {
      seen.push(call.payload["args"]);
      return { modified_payload: { ...call.payload, args: { ...Object(call.payload["args"]), [key]: true } } };
    };
  const outcome = await runOver([
    { name: "one", does: add("one") },
    { name: "two", mode: "transform", does: add("two") },
  ]);
  expect(seen).toEqual([{ a: 1 }, { a: 1, one: true }]);
  expect(outcome.payload).toEqual({ name: "add", args: { a: 1, one: true, two: true } });
  const extensions = { custom: {} };
  const untouched = await runOver([{ name: "one", does: (call) => ({ modified_payload: call.payload }) }], {
    extensions,
  });
  expect(untouched.payload).toBe(payload);
  expect(untouched.extensions).toBe(extensions);
});

it.each([
  { name: "no violation", answer: { continue_processing: false }, code: "plugin_denied" },
  { name: "a null violation", answer: { continue_processing: false, violation: null }, code: "plugin_denied" },
  {
    name: "a violation that is no object",
    answer: { continue_processing: false, violation: 7 },
    code: "plugin_denied",
  },
  { name: "a sparse violation", answer: { continue_processing: false, violation: { reason: "r" } }, code: "" },
  {
    name: "a broken payload beside it",
    answer: { continue_processing: false, modified_payload: 7, metadata: 7, context: 7 },
    code: "plugin_denied",
  },
])("denies with $name, in both phases that may", async ({ answer, code }) => {
  for (const mode of ["sequential", "concurrent"] as const) {
    const outcome = await runOver([{ name: "p", mode, onError: "ignore", does: () => answer }]);
    expect([outcome.allowed, outcome.violation?.code]).toEqual([false, code]);
  }
});

it("asks nobody in the foreground after a deny, and still tells the background", async () => {
  const ran: string[] = [];
  const noting = (name: string, mode: PluginMode): TestPlugin => ({
    name,
    mode,
    does: () => {
      ran.push(name);
      return {};
    },
  });
  const host = hostOf([
    { name: "no", does: deny("NO") },
    noting("next", "sequential"),
    noting("t", "transform"),
    noting("a", "audit"),
    noting("c", "concurrent"),
    noting("f", "fire_and_forget"),
  ]);
  const outcome = await host.run(requestOf());
  await host.close();
  expect(ran).toEqual(["f"]);
  expect(outcome.executions.map(({ status }) => status)).toEqual([
    "denied",
    "skipped",
    "skipped",
    "skipped",
    "skipped",
    "started",
  ]);
});

it("runs concurrent plugins beside each other, and ends the others at the first deny", async () => {
  let isEnded = false;
  const outcome = await runOver([
    {
      name: "slow",
      mode: "concurrent",
      does: (_call, { signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => {
            isEnded = true;
            reject(signal.reason);
          });
        }),
    },
    { name: "no", mode: "concurrent", does: deny("NO") },
  ]);
  expect([outcome.allowed, isEnded]).toEqual([false, true]);
  expect(outcome.executions.map(({ status }) => status)).toEqual(["skipped", "denied"]);
});

it("waits for all concurrent plugins without short_circuit_on_deny, and takes the deny that stands first in the file", async () => {
  const order: string[] = [];
  let release: (() => void) | undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const outcome = await runOver(
    [
      {
        name: "first",
        mode: "concurrent",
        does: async () => {
          await held;
          order.push("first");
          return { continue_processing: false, violation: { code: "FIRST" } };
        },
      },
      {
        name: "second",
        mode: "concurrent",
        does: () => {
          order.push("second");
          // Long after this answer was read.
          setImmediate(() => release?.());
          return { continue_processing: false, violation: { code: "SECOND" } };
        },
      },
    ],
    {},
    { settings: { shortCircuitOnDeny: false } },
  );
  expect(order).toEqual(["second", "first"]);
  expect(outcome.violation?.code).toBe("FIRST");
  expect(outcome.executions.map(({ status }) => status)).toEqual(["denied", "denied"]);
});

it("runs audit plugins of one priority beside each other when the file says so", async () => {
  let together = 0;
  let most = 0;
  const does: TestPlugin["does"] = async () => {
    together += 1;
    most = Math.max(most, together);
    await new Promise((resolve) => setImmediate(resolve));
    together -= 1;
    return {};
  };
  const plugins: readonly TestPlugin[] = ["1", "2", "3"].map((name) => ({ name, mode: "audit", does }));
  await runOver(plugins, {}, { settings: { parallelWithinBand: true } });
  expect(most).toBe(3);
  most = 0;
  await runOver(plugins);
  expect(most).toBe(1);
});

it("leaves disabled plugins alone, but lists them, whatever their kind", async () => {
  const host = hostOf([
    { name: "off", mode: "disabled", kind: "elsewhere", does: allow } as TestPlugin,
    { name: "on", hooks: ["tool_post_invoke"], does: allow },
  ]);
  expect(host.list().map(({ name, mode }) => [name, mode])).toEqual([
    ["on", "sequential"],
    ["off", "disabled"],
  ]);
  expect([host.hasHook("tool_pre_invoke"), host.hasHook("tool_post_invoke")]).toEqual([false, true]);
  await host.close();
});

it("runs one handler for a hook, and none for a hook that nobody has", async () => {
  let calls = 0;
  const does = (): unknown => {
    calls += 1;
    return {};
  };
  await runOver([{ name: "p", hooks: ["tool_pre_invoke", "tool_pre_invoke"], does }]);
  expect(calls).toBe(1);
  const outcome = await runOver([{ name: "p", does }], {
    hook: "agent_pre_invoke",
    payload: { agent_id: "a", messages: [] },
  });
  expect([outcome.allowed, outcome.executions, calls]).toEqual([true, [], 1]);
});

it("tells what plugins say of an answer: headers, metadata and the longest wait", async () => {
  const outcome = await runOver([
    {
      name: "one",
      does: () => ({ http_headers: { "X-A": "1", "Set-Cookie": "x" }, metadata: { a: 1 }, retry_delay_ms: 5 }),
    },
    {
      name: "two",
      mode: "concurrent",
      does: () => ({ http_headers: { "x-a": "2" }, metadata: { b: 2 }, retry_delay_ms: 3 }),
    },
    { name: "three", mode: "audit", does: () => ({ http_headers: { "X-C": "3" }, metadata: { c: 3 } }) },
  ]);
  expect(outcome.httpHeaders).toEqual({ "X-A": "2" });
  expect(outcome.metadata).toEqual({ a: 1, b: 2 });
  expect(outcome.retryDelayMs).toBe(5);
});
