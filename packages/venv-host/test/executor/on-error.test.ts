import { expect, it } from "vitest";
import { createPluginHost, type OnError, type PluginKind, type PluginMode } from "../../src/executor.js";
import { createFakeTime } from "./fake-time.js";
import { allow, entryOf, hostOf, requestOf, runOver, settings, type TestPlugin } from "./hosts.js";

const fails: TestPlugin["does"] = () => {
  throw Object.assign(new Error("it broke"), { code: "WORKER_DIED" });
};
/** Never answers, and does not hear that it should end. */
const hangs: TestPlugin["does"] = () => new Promise(() => undefined);

const MODES: readonly PluginMode[] = ["sequential", "transform", "audit", "concurrent"];
const ON_ERRORS: readonly OnError[] = ["fail", "ignore", "disable"];

const CASES = MODES.flatMap((mode) => ON_ERRORS.map((onError) => ({ mode, onError })));

it.each(CASES)("takes an error of a $mode plugin under on_error $onError as told", async ({ mode, onError }) => {
  const host = hostOf([
    { name: "p", mode, onError, does: fails },
    { name: "z", mode, does: allow },
  ]);
  const outcome = await host.run(requestOf());
  const denies = onError === "fail" && (mode === "sequential" || mode === "concurrent");
  expect(outcome.allowed).toBe(!denies);
  if (denies) {
    expect(outcome.violation).toMatchObject({
      code: "plugin_error",
      reason: "it broke",
      plugin: "p",
      details: { error: "WORKER_DIED" },
    });
  }
  expect(outcome.executions[0]).toMatchObject({ plugin: "p", status: "failed", reason: "it broke" });
  if (denies && mode === "sequential")
    expect(outcome.executions[1]).toMatchObject({ status: "skipped", reason: "plugin p failed before it" });
  expect(host.list().map(({ isDisabled }) => isDisabled)).toEqual([onError === "disable", false]);
  expect((await host.run(requestOf())).executions[0]?.status).toBe(onError === "disable" ? "skipped" : "failed");
  await host.close();
});

it.each(MODES)("denies on an error of a %s plugin under fail_on_plugin_error", async (mode) => {
  const outcome = await runOver([{ name: "p", mode, does: fails }], {}, { settings: { failOnPluginError: true } });
  expect([outcome.allowed, outcome.violation?.code]).toEqual([false, "plugin_error"]);
});

it.each([
  { onError: "fail" as const, allowed: false },
  { onError: "ignore" as const, allowed: true },
  { onError: "disable" as const, allowed: true },
])("ends the wait for a plugin that ignores its signal, under on_error $onError", async ({ onError, allowed }) => {
  const time = createFakeTime();
  const host = hostOf([{ name: "p", onError, does: hangs }], {
    scheduler: time,
    settings: { pluginTimeoutMs: 30_000 },
  });
  const running = host.run(requestOf());
  await time.armed(30_000);
  time.pass(30_000);
  const outcome = await running;
  expect(outcome.allowed).toBe(allowed);
  expect(outcome.violation?.code).toBe(allowed ? undefined : "plugin_timeout");
  expect(outcome.executions[0]).toMatchObject({ status: "timed_out", durationMs: 30_000 });
  expect(host.list()[0]?.isDisabled).toBe(onError === "disable");
  await host.close();
});

it("rejects with the caller's reason when the caller ends the wait", async () => {
  const stop = new AbortController();
  const endsTheWait = (): Promise<never> => {
    stop.abort("enough");
    return new Promise(() => undefined);
  };
  const host = hostOf([{ name: "p", onError: "ignore", does: endsTheWait }]);
  await expect(host.run(requestOf({ signal: stop.signal }))).rejects.toBe("enough");
  await expect(host.run(requestOf({ signal: stop.signal }))).rejects.toBe("enough");
  await host.close();
});

it("switches off a plugin of the background after an error, and records what became of it", async () => {
  const decisions: string[] = [];
  const host = hostOf([{ name: "p", mode: "fire_and_forget", onError: "disable", does: fails }], {
    record: ({ plugin, status, code }) => void decisions.push(`${plugin} ${status} ${code}`),
  });
  expect((await host.run(requestOf())).allowed).toBe(true);
  await host.close();
  expect(host.list()[0]?.isDisabled).toBe(true);
  expect(decisions).toEqual(["p started undefined", "p failed WORKER_DIED"]);
});

it("skips background calls over their limit", async () => {
  const host = hostOf([{ name: "p", mode: "fire_and_forget", does: hangs }], {
    limits: { maxBackgroundCalls: 1, backgroundGraceMs: 0 },
  });
  expect((await host.run(requestOf())).executions[0]?.status).toBe("started");
  expect((await host.run(requestOf())).executions[0]?.status).toBe("skipped");
  await host.close();
});

/** A kind that fails as often as it is told. */
function kindThatFails(failures: number): { readonly kind: PluginKind; readonly opened: () => number } {
  let opened = 0;
  return {
    opened: () => opened,
    kind: {
      name: "test",
      check: () => [],
      open: async () => {
        opened += 1;
        if (opened <= failures) throw new Error(`no environment (${opened})`);
        return {
          evidence: { digest: "d1" },
          call: async () => ({
            continueProcessing: true,
            modifiedPayload: undefined,
            modifiedExtensions: undefined,
            violation: undefined,
            metadata: undefined,
            httpHeaders: undefined,
            retryDelayMs: 0,
            context: undefined,
          }),
          health: async () => ({ state: "ready" as const, message: "well" }),
          close: async () => undefined,
          [Symbol.asyncDispose]: async () => undefined,
        };
      },
    },
  };
}

const config = { plugins: [entryOf({ name: "p" })], settings, warnings: [] };

it("takes a plugin that cannot be made ready as failed, and tries again later, not at once", async () => {
  const time = createFakeTime();
  const { kind, opened } = kindThatFails(2);
  const host = createPluginHost({ config, kinds: [kind], scheduler: time });
  const outcome = await host.run(requestOf());
  expect(outcome.violation).toMatchObject({
    code: "plugin_error",
    reason: "plugin p could not be made ready: no environment (1)",
  });
  expect((await host.run(requestOf())).allowed).toBe(false);
  expect(opened()).toBe(1);
  expect(await host.health()).toEqual([{ plugin: "p", state: "failed", message: "no environment (1)" }]);
  time.pass(1_000);
  expect((await host.run(requestOf())).allowed).toBe(false);
  time.pass(1_999);
  expect((await host.run(requestOf())).allowed).toBe(false);
  expect(opened()).toBe(2);
  time.pass(1);
  expect((await host.run(requestOf())).allowed).toBe(true);
  expect(host.list()[0]?.evidence).toEqual({ digest: "d1" });
  await host.close();
});

it("rejects start with the first fault under fail_on_plugin_error only", async () => {
  const strict = { ...config, settings: { ...settings, failOnPluginError: true } };
  const host = createPluginHost({ config: strict, kinds: [kindThatFails(1).kind] });
  await expect(host.start()).rejects.toMatchObject({ code: "PLUGIN_FAILED" });
  await host.close();
  const lenient = createPluginHost({ config, kinds: [kindThatFails(1).kind] });
  await lenient.start();
  await lenient.close();
});

it("makes a plugin ready once for callers that come together, and no call reaches it before", async () => {
  let opened = 0;
  let ready: (() => void) | undefined;
  const { kind } = kindThatFails(0);
  const slow: PluginKind = {
    ...kind,
    open: async (entry, options) => {
      opened += 1;
      await new Promise<void>((resolve) => {
        ready = resolve;
      });
      return kind.open(entry, options);
    },
  };
  const host = createPluginHost({ config, kinds: [slow] });
  const both = Promise.all([host.run(requestOf()), host.run(requestOf())]);
  await new Promise((resolve) => setImmediate(resolve));
  ready?.();
  expect((await both).map(({ allowed }) => allowed)).toEqual([true, true]);
  expect(opened).toBe(1);
  await host.close();
});

it("gives up making a plugin ready after its time, and closes what comes too late", async () => {
  const time = createFakeTime();
  let isClosed: (() => void) | undefined;
  const closed = new Promise<void>((resolve) => {
    isClosed = resolve;
  });
  let late: (() => void) | undefined;
  const { kind } = kindThatFails(0);
  const slow: PluginKind = {
    ...kind,
    open: async (entry, options) => {
      await new Promise<void>((resolve) => {
        late = resolve;
      });
      return { ...(await kind.open(entry, options)), close: async () => isClosed?.() };
    },
  };
  const host = createPluginHost({ config, kinds: [slow], scheduler: time, limits: { openTimeoutMs: 5_000 } });
  const running = host.run(requestOf());
  await time.armed(5_000);
  time.pass(5_000);
  expect((await running).violation?.code).toBe("plugin_timeout");
  late?.();
  await closed;
  await host.close();
});

it("refuses after close, ends what runs, and closes each plugin once", async () => {
  let closes = 0;
  const { kind } = kindThatFails(0);
  const counting: PluginKind = {
    ...kind,
    open: async (entry, options) => ({
      ...(await kind.open(entry, options)),
      call: () => new Promise(() => undefined),
      close: async () => {
        closes += 1;
      },
    }),
  };
  const host = createPluginHost({ config, kinds: [counting] });
  await host.start();
  const running = host.run(requestOf());
  const ended = expect(running).rejects.toMatchObject({ code: "HOST_CLOSED" });
  await Promise.all([host.close(), host.close()]);
  await ended;
  await expect(host.run(requestOf())).rejects.toMatchObject({ code: "HOST_CLOSED" });
  await expect(host.start()).rejects.toMatchObject({ code: "HOST_CLOSED" });
  await expect(host.health()).rejects.toMatchObject({ code: "HOST_CLOSED" });
  expect(closes).toBe(1);
});

it("ends the wait for a plugin that does not end, says so, and ends the others", async () => {
  const time = createFakeTime();
  const ended: string[] = [];
  const { kind } = kindThatFails(0);
  const stuck: PluginKind = {
    ...kind,
    open: async (entry, options) => ({
      ...(await kind.open(entry, options)),
      close: () =>
        entry.name === "stuck" ? new Promise(() => undefined) : Promise.resolve(void ended.push(entry.name)),
    }),
  };
  const plugins = [entryOf({ name: "stuck" }), entryOf({ name: "good" })];
  const host = createPluginHost({ config: { ...config, plugins }, kinds: [stuck], scheduler: time });
  await host.start();
  const closing = expect(host.close()).rejects.toMatchObject({ code: "PLUGIN_FAILED" });
  await time.armed(30_000);
  time.pass(30_000);
  await closing;
  expect(ended).toEqual(["good"]);
});

it.each([
  ["maxDepth", 7],
  ["maxValues", 1.5],
  ["openTimeoutMs", 0],
])("refuses %s: %s", (name, value) => {
  expect(() => createPluginHost({ config, kinds: [], limits: { [name]: value } })).toThrowError(
    expect.objectContaining({ code: "OPTION_INVALID" }),
  );
});
