import { existsSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { partsForAll } from "../../../fixtures/parts.js";
import { type Connected, gateway, logEntries } from "./gateway.js";
import { entryOf, type PluginPlace, pluginPlace } from "./plugin-place.js";

const isReady = partsForAll("python3-venv");

/** What a call came to. */
async function outcome(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof McpError)) throw error;
    return { code: error.code, message: error.message, data: error.data };
  }
}
const textIn = (result: unknown): string => JSON.stringify(result);
const sha = /^sha256:[0-9a-f]{64}$/u;

/** Processes whose program or arguments lie in a folder: plugins' workers, and the server. */
function processesIn(folder: string): readonly string[] {
  const numbers = readdirSync("/proc").filter((name) => /^\d+$/u.test(name));
  return numbers.filter((number) => {
    try {
      const words = readFileSync(`/proc/${number}/cmdline`, "utf8");
      return words.includes(folder) && !words.includes("berth-gateway.js");
    } catch {
      return false; // it has ended meanwhile
    }
  });
}

describe("plugins of a gateway", { timeout: 120_000 }, () => {
  let place: PluginPlace;
  let gate: Connected;
  const call = (given: object, name = "echo"): Promise<unknown> =>
    outcome(gate.client.callTool({ name, arguments: { ...given } }));
  beforeAll(async () => {
    if (!isReady) return;
    place = await pluginPlace({ guard: entryOf("Guard") });
    gate = await place.open();
  }, 120_000);
  afterAll(async () => {
    if (!isReady) return;
    await gate.close();
    await place[Symbol.asyncDispose]();
  });

  it("let calls pass that they have nothing against", async () => {
    expect(textIn(await call({ what: "nothing", n: 1 }))).toContain('{\\"what\\":\\"nothing\\",\\"n\\":1}');
  });

  it("deny a call with code, reason and details, and nothing in them acts on a terminal", async () => {
    expect(await call({ what: "deny" })).toEqual({
      code: -31103,
      message: expect.stringContaining('plugin "guard" denies the call: not \\u{1b}[31mthis'),
      data: {
        reason: "HOOK_DENIED",
        server: expect.any(String),
        plugin: "guard",
        hook: "tool_pre_invoke",
        code: "FORBIDDEN",
        denial: "not \\u{1b}[31mthis",
        description: "it is forbidden",
        details: { where: "args", bell: "\\u{7}" },
      },
    });
    expect(await call({ what: "bare" })).toMatchObject({ code: -31103, data: { reason: "HOOK_DENIED" } });
  });

  it("cannot make an error large", async () => {
    const denied = await call({ what: "huge" });
    expect(denied).toMatchObject({ data: { code: "HUGE", detailsOmitted: true } });
    expect(textIn(denied).length).toBeLessThan(3_000);
  });

  it("change arguments and results", async () => {
    expect(textIn(await call({ what: "mask", text: "1234" }))).toContain('\\"text\\":\\"***\\"');
    expect(textIn(await call({ text: "a secret" }))).toContain("a ***");
  });

  it("lead to another tool of the server, and to none that it does not have", async () => {
    expect(textIn(await call({ what: "rename", to: "spare" }))).toContain("spare {");
    expect(await call({ what: "rename", to: "nowhere" })).toMatchObject({ data: { reason: "UNKNOWN_TOOL" } });
  });

  it("look into results before the client has them", async () => {
    expect(await call({ text: "DENY-AFTER" })).toMatchObject({
      code: -31103,
      data: { reason: "HOOK_DENIED", hook: "tool_post_invoke", code: "NOT_OUT" },
    });
  });

  it("look into prompts", async () => {
    const { client } = gate;
    const greeted = await client.getPrompt({ name: "greet", arguments: { who: "secret" } });
    expect(greeted.messages[0]?.content).toEqual({ type: "text", text: "greet ***!" });
    expect(await outcome(client.getPrompt({ name: "greet", arguments: { who: "nobody" } }))).toMatchObject({
      code: -31103,
    });
  });

  it("look into each piece of a resource, and lead to another address", async () => {
    const { contents } = await gate.client.readResource({ uri: "note:two" });
    expect(contents).toEqual([
      { uri: "note:three", text: "note:three says ***" },
      { uri: "note:three#2", text: "a second ***" },
    ]);
  });

  it.each([
    { what: "raise", error: "WORKER_ERROR" },
    { what: "exit", error: "WORKER_DIED" },
    { what: "hang", error: "WORKER_TIMEOUT" },
    { what: "spoil", error: "PROTOCOL_ERROR" },
  ])("that $what cost the call and no more, and the client is not told more than that", async ({ what, error }) => {
    const refused = await call({ what });
    expect(refused).toMatchObject({
      code: -31103,
      data: { reason: "HOOK_FAILED", plugin: "guard", hook: "tool_pre_invoke", details: { error } },
    });
    expect(textIn(refused)).not.toMatch(/private|last words|Traceback/u);
    expect(textIn(await call({ text: "hello" }))).toContain("hello");
  });

  it.each([{ what: "print" }, { what: "flood" }, { what: "twice" }])("that $what hinder nothing", async ({ what }) => {
    expect(textIn(await call({ what, text: "hello" }))).toContain("hello");
    expect(textIn(await call({ text: "again" }))).toContain("again");
  });

  it("are waited for by their own calls only: progress of others passes meanwhile", async () => {
    const hanging = call({ what: "hang" });
    const progress: number[] = [];
    const slow = gate.client.callTool({ name: "slow", arguments: {} }, undefined, {
      onprogress: ({ progress: at }) => progress.push(at),
    });
    expect((await gate.client.listTools()).tools.length).toBe(5);
    await hanging;
    expect(textIn(await slow)).toContain("slow");
    expect(progress).toEqual([1]);
  });

  it("have each decision in the log, with the environment and what was changed, and no payload", async () => {
    const { stdout } = await gateway(["audit", "tail", "--state", place.state, "--json"]);
    expect(stdout).not.toMatch(/secret|private words|last words|forbidden|DENY-AFTER/u);
    const entries = await logEntries(place.state);
    const [environment] = entries.filter(({ type }) => type === "plugin.environment");
    expect(environment).toMatchObject({ plugin: "guard", origin: "built", environmentDigest: expect.any(String) });
    const decisions = entries.filter(({ type }) => type === "hook.decision");
    const statuses = new Set(decisions.map(({ status }) => status));
    expect([...statuses].sort()).toEqual(["allowed", "denied", "failed", "modified", "timed_out"]);
    for (const decision of decisions) {
      expect(decision).toMatchObject({ plugin: "guard", environmentDigest: environment?.["environmentDigest"] });
      if (decision["status"] === "modified") {
        expect(decision["before"]).toMatch(sha);
        expect(decision["after"]).toMatch(sha);
      }
    }
    // The decision, the intent and the outcome of one call have one request.
    const masked = decisions.find(({ status, hook }) => status === "modified" && hook === "tool_pre_invoke");
    const intent = entries.find(({ type, request }) => type === "call.intent" && request === masked?.["request"]);
    expect(intent).toMatchObject({ sentDigest: expect.stringMatching(sha) });
    const outcomeOf = entries.find(({ type, intent: of }) => type === "call.outcome" && of === intent?.["seq"]);
    expect(outcomeOf).toMatchObject({ status: "result" });
    expect(entries.find(({ type }) => type === "session.open")).toMatchObject({
      plugins: join(place.folder, "hooks", "plugins.yaml"),
      pluginsDigest: expect.stringMatching(sha),
    });
    const refused = entries.filter(({ type, reason }) => type === "call.refused" && reason === "HOOK_DENIED");
    expect(refused[0]).toMatchObject({ code: -31103, request: expect.any(String) });
    expect(await gateway(["audit", "verify", "--state", place.state])).toMatchObject({ code: 0 });
  });

  it("are shown by status", async () => {
    const { stdout } = await gateway(["status", "--state", place.state, "--json"]);
    const [log] = JSON.parse(stdout).logs;
    expect(log.plugins).toEqual([{ plugin: "guard", ready: true, environment: "built" }]);
    expect(log.denials).toBeGreaterThan(3);
  });
});

describe("plugins of several kinds", { timeout: 120_000 }, () => {
  it("find in the hook after a call what they noted in the hook before it, under one request", async () => {
    await using place = await pluginPlace({ notes: entryOf("Notes", "tool_pre_invoke, tool_post_invoke") });
    await using gate = await place.open();
    const result = await gate.client.callTool({ name: "echo", arguments: {} });
    const [{ text = "{}" } = {}] = Array.isArray(result.content) ? result.content : [];
    const told = JSON.parse(text);
    expect(told.noted.request).toBe(told.now);
    expect(told.noted.server).toMatch(/^hook-server-/u);
  });

  it("may ask for the framework's messages, beside the hooks of that name without `cmf.`", async () => {
    const hooks = "cmf.tool_pre_invoke, cmf.tool_post_invoke, cmf.prompt_post_fetch, cmf.resource_post_fetch";
    await using place = await pluginPlace({ message: entryOf("Message", hooks) });
    await using gate = await place.open();
    const { client } = gate;
    expect(textIn(await client.callTool({ name: "echo", arguments: { text: "secret" } }))).toContain(
      '{\\"seen\\":\\"tool_call\\",\\"text\\":\\"###\\"}',
    );
    expect(await outcome(client.callTool({ name: "echo", arguments: { what: "cmf-deny" } }))).toMatchObject({
      data: { reason: "HOOK_DENIED", hook: "cmf.tool_pre_invoke" },
    });
    expect(textIn(await client.getPrompt({ name: "greet", arguments: { who: "secret" } }))).toContain("greet ###");
    expect(textIn(await client.readResource({ uri: "note:one" }))).toContain("a second ###");
  });

  it("that cannot be made ready are told, and decide by their on_error", async () => {
    const broken = entryOf("Guard", "tool_pre_invoke", ", on_error: ").replace("requirements.txt", "missing.txt");
    await using place = await pluginPlace({ broken: `${broken}fail` });
    await using gate = await place.open();
    expect(await outcome(gate.client.callTool({ name: "echo", arguments: {} }))).toMatchObject({
      code: -31103,
      data: { reason: "HOOK_FAILED", plugin: "broken" },
    });
    expect(gate.stderr()).toContain("not ready");
    await gate.close();
    await place.writePlugins({ broken: `${broken}ignore` });
    await using second = await place.open();
    expect(textIn(await second.client.callTool({ name: "echo", arguments: { text: "hi" } }))).toContain("hi");
    const doctor = await gateway(["doctor", "--config", place.config, "--state", place.state]);
    expect(doctor.stdout).toContain("missing.txt");
  });

  it.each(["SIGTERM", "SIGKILL"] as const)(
    "are gone when the gateway is ended by %s, also one that is asked",
    async (signal) => {
      await using place = await pluginPlace({ guard: entryOf("Guard", "tool_pre_invoke") });
      await using gate = await place.open();
      const waiting = { what: "wait", at: place.folder };
      const ended = outcome(gate.client.callTool({ name: "echo", arguments: waiting })).catch(() => "closed");
      await expect.poll(() => existsSync(join(place.folder, "asked")), { timeout: 30_000 }).toBe(true);
      expect(processesIn(place.folder).length).toBeGreaterThan(0);
      process.kill(gate.pid, signal);
      await ended;
      await expect.poll(() => processesIn(place.folder), { timeout: 60_000 }).toEqual([]);
    },
  );

  it("are made ready by `plugins`, before a client would have to wait", async () => {
    const broken = entryOf("Guard", "tool_pre_invoke").replace("requirements.txt", "missing.txt");
    await using place = await pluginPlace({ guard: entryOf("Guard") });
    const made = await gateway(["plugins", "--config", place.config, "--state", place.state]);
    expect(made).toMatchObject({ code: 0, stdout: "ready      plugin guard\n" });
    await place.writePlugins({ guard: entryOf("Guard"), broken });
    const second = await gateway(["plugins", "--config", place.config, "--state", place.state, "--json"]);
    expect(second.code).toBe(1);
    expect(JSON.parse(second.stdout).plugins).toMatchObject([
      { plugin: "guard", ready: true },
      { plugin: "broken", ready: false, message: expect.stringContaining("missing.txt") },
    ]);
    const origins = (await logEntries(place.state))
      .map(({ origin }) => origin)
      .filter((origin) => origin !== undefined);
    expect(origins).toEqual(["built", "cached"]);
  });

  it("keep the gateway from starting with fail_on_plugin_error", async () => {
    const broken = entryOf("Guard", "tool_pre_invoke").replace("requirements.txt", "missing.txt");
    await using place = await pluginPlace({ broken }, "{ fail_on_plugin_error: true }");
    const ended = await gateway(place.run, { inputUntil: "never" });
    expect(ended).toMatchObject({ code: 1 });
    expect(ended.stderr).toContain("missing.txt");
  });

  it("are told by doctor: ready, or built at the first use", async () => {
    await using place = await pluginPlace({ guard: entryOf("Guard") });
    const doctor = () => gateway(["doctor", "--config", place.config, "--state", place.state]);
    expect((await doctor()).stdout).toContain("is built at its first use");
    await using gate = await place.open();
    await gate.client.listTools();
    expect((await doctor()).stdout).toMatch(
      /plugin guard: its environment [0-9a-f]{16} is built and its class can be imported$/mu,
    );
  });

  it("whose class cannot be imported are told by `plugins` and by doctor, in the words of their author", async () => {
    await using place = await pluginPlace({ typo: entryOf("Gard"), guard: entryOf("Guard") });
    const says = "plugin typo: import of `my_pkg` failed: it has no class `Gard`\n";
    const at = ["--config", place.config, "--state", place.state];
    const made = await gateway(["plugins", ...at]);
    expect([made.code, made.stdout]).toEqual([1, `NOT READY  ${says}ready      plugin guard\n`]);
    const doctor = await gateway(["doctor", ...at]);
    // It keeps `serve` from nothing: its on_error decides about each call.
    expect([doctor.code, doctor.stdout]).toEqual([0, expect.stringContaining(`note  ${says}`)]);
    expect(doctor.stdout).toMatch(
      /plugin guard: its environment [0-9a-f]{16} is built and its class can be imported$/mu,
    );
  });

  it.each([
    { name: "no file", text: undefined, says: "cannot be read" },
    { name: "a kind that nobody knows", text: "plugins:\n  - { name: a, kind: magic, hooks: [x] }\n", says: "line 2" },
    { name: "no hooks", text: "plugins:\n  - { name: a, kind: isolated_venv }\n", says: "line 2" },
  ])("with $name are an error before anything is started", async ({ text, says }) => {
    await using place = await pluginPlace({});
    const file = join(place.folder, "hooks", "plugins.yaml");
    if (text === undefined) await writeFile(place.config, "plugins: nowhere.yaml\n");
    else await writeFile(file, text);
    const ended = await gateway(place.run);
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toContain(says);
    expect(await gateway(["doctor", "--config", place.config, "--state", place.state])).toMatchObject({ code: 1 });
  });
});
