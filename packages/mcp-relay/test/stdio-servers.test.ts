import { describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import type { RelayOptions } from "../src/index.js";
import { type FixtureStart, openFixture } from "./support/fixture-servers.js";
import { namesIn, openHarness, type TestServer } from "./support/relay-harness.js";

const python = partTest("python3");
const serve = async (
  files: Readonly<Record<string, string>>,
  start: FixtureStart & Omit<TestServer, "script" | "open"> = {},
  options: Partial<RelayOptions> = {},
) => {
  const servers = Object.entries(files).map(([name, file]): [string, TestServer] => {
    const { args, maxFrameBytes, onStart, ...policy } = start;
    const launch = { ...(args && { args }), ...(maxFrameBytes && { maxFrameBytes }), ...(onStart && { onStart }) };
    return [name, { ...policy, open: (signal) => openFixture(file, { ...launch, signal }) }];
  });
  const relay = openHarness(Object.fromEntries(servers), options);
  await relay.client.initialize();
  return relay;
};
const textOf = (message: { readonly result?: unknown }) => JSON.stringify(message.result);

describe("behind the relay, a real server that", () => {
  it("is well-behaved is listed and called", async () => {
    await using relay = await serve({ s: "echo.mjs" });
    expect(namesIn(await relay.client.request("tools/list"), "tools")).toEqual(["s__echo", "s__add"]);
    const answer = await relay.client.request("tools/call", { name: "s__echo", arguments: { text: "grüße" } });
    expect(textOf(answer.message)).toContain("grüße");
  });

  python("is written in Python answers 64 KiB and more", async () => {
    await using relay = await serve({ s: "echo.py" });
    const text = "ü".repeat(200_000);
    const answer = await relay.client.request("tools/call", { name: "s__echo", arguments: { text } });
    expect(textOf(answer.message)).toContain(text);
  });

  it("insists on the handshake gets it, in its order", async () => {
    await using relay = await serve({ s: "strict-handshake.mjs" });
    const { message } = await relay.client.request("tools/call", { name: "s__seen" });
    expect(textOf(message)).toContain("initialize notifications/initialized tools/call");
  });

  it("talks around its answers loses nothing but the progress that is not its own or too late", async () => {
    await using relay = await serve({ s: "chatty-notifications.mjs" });
    await relay.client.request("tools/call", { name: "s__talk", _meta: { progressToken: "mine" } });
    await relay.client.request("tools/call", { name: "s__talk" });
    const notes = relay.client.received.flatMap(({ message: { method, params } }) =>
      method === undefined ? [] : [params?.["progressToken"] ?? method],
    );
    expect(notes).toEqual(["notifications/message", "mine", "notifications/message"]);
    expect(relay.faults).toEqual([]);
  });

  it("prints on stdout is ended, its print kept from client and records, and started afresh", async () => {
    await using relay = await serve({ s: "prints-on-stdout.mjs" });
    const { message } = await relay.client.request("tools/call", { name: "s__print" });
    expect(message.error).toMatchObject({ code: -31102, data: { reason: "CHILD_DESYNCHRONIZED", server: "s" } });
    expect(relay.faults).toMatchObject([
      { server: "s", code: "FRAME_NOT_JSON", action: "ended", excerpt: "debug: connecting with password hunter2" },
    ]);
    const quiet = await relay.client.request("tools/call", { name: "s__quiet" });
    expect(textOf(quiet.message)).toContain("nothing printed");
    expect(JSON.stringify([relay.client.received, relay.events])).not.toContain("hunter2");
    await relay.session.close();
    expect(relay.events.filter(({ type }) => type === "child.exit")).toMatchObject([
      { reason: "CHILD_DESYNCHRONIZED" },
      { reason: "SESSION_CLOSED" },
    ]);
  });

  python("prints on stdout works under quarantine, and the lines are counted", async () => {
    await using relay = await serve({ s: "prints-on-stdout.py" }, { onBadLine: "quarantine" });
    const { message } = await relay.client.request("tools/call", { name: "s__print" });
    expect(textOf(message)).toContain("printed");
    await relay.session.close();
    expect(relay.events.at(-1)).toMatchObject({ type: "child.exit", droppedLines: 2 });
  });

  it.each(["fatal", "quarantine"] as const)("answers to a foreign id is ended under %s", async (onBadLine) => {
    await using relay = await serve({ s: "foreign-id.mjs" }, { onBadLine });
    const { message } = await relay.client.request("tools/call", { name: "s__inject" });
    expect(message.error?.data?.["reason"]).toBe("CHILD_DESYNCHRONIZED");
    expect(relay.faults).toMatchObject([{ code: "FOREIGN_RESPONSE" }]);
  });

  it.each([
    { tool: "die", code: 3 },
    { tool: "die-in-frame", code: 4 },
  ])(
    "dies in a call fails it at once with its exit code, and lives again at the next: $tool",
    async ({ tool, code }) => {
      await using relay = await serve({ s: "dies-mid-call.mjs" });
      const { message } = await relay.client.request("tools/call", { name: `s__${tool}` });
      expect(message.error).toMatchObject({
        code: -31102,
        data: { reason: "CHILD_EXITED", exitCode: code, stderrBytes: 0 },
      });
      const again = await relay.client.request("tools/call", { name: "s__live" });
      expect(textOf(again.message)).toContain("alive");
      await expect.poll(() => relay.events.find(({ type }) => type === "child.exit")).toMatchObject({ exit: { code } });
    },
  );

  it.each(["silent.mjs", "bad-version.mjs"])("cannot be spoken to shows why: %s", async (file) => {
    await using relay = await serve({ s: file }, { deadlines: { startMs: 700 } });
    const { message } = await relay.client.request("tools/call", { name: "s__x" });
    expect(message.error?.data?.["reason"]).toBe(file === "silent.mjs" ? "START_TIMEOUT" : "REVISION_UNSUPPORTED");
  });

  it("is silent in a call is given up after the deadline, cancelled, and asked again", async () => {
    await using relay = await serve({ s: "silent-calls.mjs" }, { deadlines: { callMs: 300 } });
    const { message } = await relay.client.request("tools/call", { name: "s__wait" });
    expect(message.error?.data?.["reason"]).toBe("CALL_TIMEOUT");
    expect((await relay.client.request("tools/call", { name: "s__live" })).message.result).toBeDefined();
    expect(relay.session.status()).toMatchObject([{ starts: 1, state: "ready" }]);
  });

  it("is slow but shows progress is waited for", async () => {
    await using relay = await serve({ s: "slow.mjs" }, { deadlines: { callMs: 250 } });
    const call = { name: "s__wait", arguments: { ms: 600, every: 60 }, _meta: { progressToken: 1 } };
    expect((await relay.client.request("tools/call", call)).message.result).toBeDefined();
    const quiet = { name: "s__wait", arguments: { ms: 600, every: 60 } };
    expect((await relay.client.request("tools/call", quiet)).message.error?.data?.["reason"]).toBe("CALL_TIMEOUT");
  });

  it("starts late does not hold the others back beyond its start deadline", async () => {
    const open = (file: string, args: readonly string[]) => (signal: AbortSignal) =>
      openFixture(file, { args, signal });
    await using relay = openHarness({
      late: { open: open("slow.mjs", ["60000"]), deadlines: { startMs: 400 } },
      good: { open: open("echo.mjs", []) },
    });
    await relay.client.initialize();
    expect(namesIn(await relay.client.request("tools/list"), "tools")).toEqual(["good__echo", "good__add"]);
  });

  it.each([
    { name: "an answer whose id comes first", args: {}, status: "frame-too-large" },
    { name: "an answer whose id comes last", args: { idLast: true }, status: "frame-too-large" },
  ])("sends a message over the limit loses that call only: $name", async ({ args, status }) => {
    await using relay = await serve({ s: "oversize.mjs" }, { maxFrameBytes: 100_000 });
    await relay.client.request("tools/list");
    const small = relay.client.request("tools/call", { name: "s__fill", arguments: { bytes: 10 } });
    const large = await relay.client.request("tools/call", {
      name: "s__fill",
      arguments: { bytes: 3_000_000, ...args },
    });
    expect(large.message.error).toMatchObject({ code: -31102, data: { reason: "FRAME_TOO_LARGE", server: "s" } });
    expect(large.message.error?.message).toContain("maxFrameBytes");
    expect((await small).message.result).toBeDefined();
    expect(
      relay.events
        .filter((event) => event.type === "call.outcome")
        .map((event) => event.status)
        .sort(),
    ).toEqual([status, "result"].sort());
    expect(relay.session.status()).toMatchObject([{ starts: 1, state: "ready" }]);
  });

  it("sends a notification over the limit loses it, with a notice", async () => {
    await using relay = await serve({ s: "oversize.mjs" }, { maxFrameBytes: 100_000 });
    const { message } = await relay.client.request("tools/call", {
      name: "s__fill",
      arguments: { bytes: 200_000, noId: true },
    });
    expect(message.result).toBeDefined();
    expect(relay.notices).toMatchObject([{ code: "FRAME_TOO_LARGE", server: "s" }]);
  });

  it("sends a line over the limit that is no message is ended", async () => {
    await using relay = await serve({ s: "oversize.mjs" }, { maxFrameBytes: 100_000 });
    const { message } = await relay.client.request("tools/call", {
      name: "s__fill",
      arguments: { bytes: 200_000, noise: true },
    });
    expect(message.error?.data?.["reason"]).toBe("CHILD_DESYNCHRONIZED");
    expect(relay.faults).toMatchObject([{ code: "FRAME_TOO_LARGE", action: "ended" }]);
  });

  it("lists on three pages shows all of them", async () => {
    await using relay = await serve({ s: "paged-list.mjs" });
    const list = await relay.client.request("tools/list");
    expect(namesIn(list, "tools")).toHaveLength(9);
    expect(list.message.result?.["nextCursor"]).toBeUndefined();
    expect(textOf((await relay.client.request("tools/call", { name: "s__nine" })).message)).toContain("nine");
  });

  it.each(["sampling/createMessage", "elicitation/create", "roots/list", "ping"])(
    "asks the client gets its answer: %s",
    async (method) => {
      await using relay = await serve({ s: "sampling.mjs" });
      const call = relay.client.request("tools/call", { name: "s__ask", arguments: { method, params: { of: 1.5 } } });
      const asked = await relay.client.take((message) => message.method === method);
      expect(asked.message.params).toEqual({ of: 1.5 });
      relay.client.send({ jsonrpc: "2.0", id: asked.message.id, result: { said: "yes" } });
      expect(textOf((await call).message)).toContain("yes");
    },
  );

  it("is older is spoken to in its own revision", async () => {
    await using relay = await serve({ s: "old-version.mjs" });
    expect(textOf((await relay.client.request("tools/call", { name: "s__version" })).message)).toContain("2025-11-25");
  });

  it("has prompts, resources, completions and logs serves them next to another like it", async () => {
    const open = (own: string) => (signal: AbortSignal) => openFixture("everything-else.mjs", { args: [own], signal });
    await using relay = openHarness({ a: { open: open("a") }, b: { open: open("b") } });
    await relay.client.initialize();
    expect(namesIn(await relay.client.request("prompts/list"), "prompts")).toEqual(["a__greet-a", "b__greet-b"]);
    const prompt = await relay.client.request("prompts/get", { name: "b__greet-b", arguments: { who: "you" } });
    expect(textOf(prompt.message)).toContain("greet-b: hello you");
    for (const uri of ["note://b/1", "note://b/2"]) {
      expect(textOf((await relay.client.request("resources/read", { uri })).message)).toContain("from b");
    }
    await relay.client.request("resources/subscribe", { uri: "note://a/1" });
    const updated = await relay.client.take(({ method }) => method === "notifications/resources/updated");
    expect(updated.message.params).toEqual({ uri: "note://a/1" });
    await relay.client.request("logging/setLevel", { level: "error" });
    for (const own of ["a", "b"]) await relay.client.take(({ params }) => params?.["data"] === `level of ${own}`);
  });

  python("floods stderr never blocks; the bytes are counted and told to nobody", async () => {
    await using relay = await serve({ s: "floods-stderr.py" });
    await relay.client.request("tools/call", { name: "s__flood", arguments: { bytes: 9_000_000 } });
    await relay.session.close();
    expect(relay.events.at(-1)).toMatchObject({ type: "child.exit", stderrBytes: 9_000_000 });
    expect(JSON.stringify([relay.client.received, relay.events])).not.toContain("DE8937");
  });

  it("is one of two in two sessions is two children", async () => {
    const pids: number[] = [];
    const start = { onStart: (child: { pid: number }) => pids.push(child.pid) };
    await using one = await serve({ s: "echo.mjs" }, start);
    await using two = await serve({ s: "echo.mjs" }, start);
    await one.client.request("tools/list");
    await two.client.request("tools/list");
    await one.client.request("tools/list");
    expect(new Set(pids).size).toBe(2);
    expect(pids).toHaveLength(2);
  });
});
