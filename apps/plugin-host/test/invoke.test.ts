import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Entry, readChain, verifyLogs } from "@berth/audit-chain";
import { beforeAll, describe, expect, it } from "vitest";
import { partsForAll } from "../../../fixtures/parts.js";
import { entryOf, makeWorld, run } from "./plugin-host.js";

const world = makeWorld();
const guard = world.config("plugins.yaml", { guard: entryOf("filters.Guard") });
const invoke = ["invoke", "tool_pre_invoke", "--payload", "-", "--config"];

/** What the one command that `act` runs writes into the log; another's is told from it by nothing that a clock says. */
async function logOf<T>(act: () => Promise<T>): Promise<{ readonly ended: T; readonly log: readonly Entry[] }> {
  const folder = join(world.state, "audit");
  const before = readdirSync(folder);
  const ended = await act();
  const made = readdirSync(folder).filter((name) => !before.includes(name));
  expect(made).toHaveLength(1);
  const log: Entry[] = [];
  for await (const entry of readChain(join(folder, made[0] ?? ""))) log.push(entry);
  return { ended, log };
}

describe("invoke", { timeout: 100_000 }, () => {
  const isReady = partsForAll("python3-venv");
  beforeAll(async () => {
    if (!isReady) return;
    const built = await world.run(["venv", "build", "--config", guard]);
    expect(built).toMatchObject({ code: 0, stdout: expect.stringContaining("plugin guard") });
  }, 120_000);

  it("ends with 3 and the plugin's reason when it denies", async () => {
    const { code, stdout } = await world.run([...invoke, guard], '{"name":"rm"}');
    expect(code).toBe(3);
    expect(stdout).toContain("DENIED by plugin guard: no rm (NO_RM)\n  rm is not allowed\n");
  });

  it("ends with 0 and what plugins changed when they allow", async () => {
    const { code, stdout } = await world.run([...invoke, guard, "--json"], '{"name":"add","args":{"a":1}}');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      allowed: true,
      payload: { name: "add", args: { seen: true } },
      executions: [{ plugin: "guard", status: "modified" }],
    });
  });

  it("says of a hook that no plugin has that nobody was asked, and which hooks there are", async () => {
    const args = ["invoke", "tool_preinvoke", "--payload", "-", "--config", guard];
    const { code, stdout, stderr } = await world.run(args, '{"name":"rm"}');
    expect([code, stdout]).toEqual([
      0,
      'allowed, since NO PLUGIN has the hook tool_preinvoke: none was asked\npayload {"name":"rm"}\n',
    ]);
    expect(stderr).toContain(
      "WARNING: no plugin has the hook tool_preinvoke, so none is asked; there are plugins for tool_pre_invoke\n",
    );
  });

  it("writes each decision with its environment's digest into a log that verifies, and no payload", async () => {
    const secret = "a-payload-that-is-nobody-else's";
    const input = JSON.stringify({ name: "rm", args: { secret } });
    const { log } = await logOf(() => world.run([...invoke, guard], input));
    expect(log.map(({ type }) => type)).toEqual([
      "session.open",
      "plugin.environment",
      "plugin.decision",
      "plugin.hook",
      "session.close",
    ]);
    const [, environment, decision, hook] = log;
    expect(environment).toMatchObject({
      plugin: "guard",
      origin: "cached",
      distributions: [expect.stringMatching(/^cpex==0\.1\.4 /)],
    });
    expect(decision).toMatchObject({
      plugin: "guard",
      status: "denied",
      code: "NO_RM",
      environmentDigest: environment?.["environmentDigest"],
    });
    expect(hook).toMatchObject({
      outcome: "denied",
      plugin: "guard",
      principal: "local",
      door: "command",
      request: decision?.["request"],
    });
    expect(JSON.stringify(log)).not.toContain(secret);
    expect((await verifyLogs(join(world.state, "audit"), {})).ok).toBe(true);
  });

  it("tells an import that failed by plugin, module and cause", async () => {
    const config = world.config("broken.yaml", { "pii-filter": entryOf("filter.Guard") });
    const { code, stdout } = await world.run([...invoke, config], '{"name":"add"}');
    expect(code).toBe(3);
    expect(stdout).toContain("plugin pii-filter: import of `my_pkg.filter` failed: No module named 'my_pkg.filter'");
  });

  it("tells a person once why a plugin denied or failed, and a program in each place", async () => {
    const lost = world.config("lost.yaml", { lost: entryOf("filter.Guard"), guard: entryOf("filters.Guard") });
    const cases = [
      { config: lost, says: "No module named", status: "failed     plugin lost" },
      { config: guard, says: "no rm", status: "denied     plugin guard" },
    ];
    for (const { config, says, status } of cases) {
      const { code, stdout } = await world.run([...invoke, config], '{"name":"rm"}');
      expect(code).toBe(3);
      expect(stdout.split(says), stdout).toHaveLength(2);
      expect(stdout).toMatch(new RegExp(`^${status}  \\d+\\.\\d ms$`, "mu"));
      const told = await world.run([...invoke, config, "--json"], '{"name":"rm"}');
      const { violation, executions } = JSON.parse(told.stdout);
      expect([told.code, violation.reason, executions[0].reason]).toEqual([
        3,
        expect.stringContaining(says),
        expect.stringContaining(says),
      ]);
    }
  });

  it("gives a token to the plugin that may have it, and keeps it out of its output, its log and its folders", async () => {
    const token = "tok-4f1e9c77d0a84be2";
    const config = world.config("identity.yaml", {
      identity: `${entryOf("filters.Identity", "", "identity_resolve")}, capabilities: [read_inbound_credentials]`,
    });
    const payload = join(world.folder, "payload.json");
    writeFileSync(payload, JSON.stringify({ source: "bearer", headers: {} }));
    const args = ["invoke", "identity_resolve", "--payload", payload, "--config", config, "--json", "--log", "debug"];
    const credentials = JSON.stringify({ inbound: [{ token }] });
    const { stdout, stderr } = await world.run([...args, "--credentials", "-"], credentials);
    expect(JSON.parse(stdout)).toMatchObject({ allowed: true, result: { subject: { id: "ada" } } });
    expect(stderr).toContain("seen");
    expect(stdout + stderr).not.toContain(token);
    for (const file of filesIn(world.folder)) expect(readFileSync(file).includes(token), file).toBe(false);
    const without = await world.run([...args]);
    expect(JSON.parse(without.stdout)).toMatchObject({ allowed: false, executions: [{ status: "failed" }] });
  });

  it.each([
    {
      name: "what is not JSON, without a word of it",
      input: "tok-4f1e9c77d0a84be2",
      says: "standard input is not JSON",
    },
    { name: "a payload that is no object", input: "[1]", says: "the payload has to be an object" },
    { name: "a payload that the hook does not have", input: '{"args":{}}', says: "name" },
  ])("refuses $name", async ({ input, says }) => {
    const { code, stderr } = await world.run([...invoke, guard], input);
    expect(code).toBe(2);
    expect(stderr).toContain(says);
    expect(stderr).not.toContain("tok-4f1e");
  });

  it("refuses a configuration with each fault and its line, before anything is started", async () => {
    const config = world.config("faulty.yaml", { one: "kind: wasm, hooks: [tool_pre_invoke]", two: entryOf("Guard;") });
    const { code, stderr } = await world.run([...invoke, config], "{}");
    expect(code).toBe(2);
    expect(stderr).toContain("line 2: plugin one: there is no kind wasm; this host has isolated_venv");
    expect(stderr).toContain("line 3: plugin two: config.class_name");
  });

  it("refuses a pipe, whose opening would wait for who writes, as a configuration and as a document", async () => {
    const pipe = join(world.folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    const says = `${pipe} is a pipe, a terminal or a device, and has to be a regular file`;
    const config = await world.run([...invoke, pipe], "{}");
    expect([config.code, config.stderr]).toEqual([2, expect.stringContaining(says)]);
    const payload = await world.run(["invoke", "tool_pre_invoke", "--payload", pipe, "--config", guard]);
    expect([payload.code, payload.stderr]).toEqual([2, expect.stringContaining(says)]);
  });

  it("ends in words when it is told to while a plugin works", async () => {
    const config = world.config("slow.yaml", { slow: entryOf("filters.Slow") });
    const input = JSON.stringify({ name: "a", args: { seconds: 60 } });
    const { ended, log } = await logOf(() => world.run([...invoke, config], input, "starting the worker"));
    expect([ended.code, ended.stderr]).toEqual([1, expect.stringMatching(/berth-plugin-host: ended by SIGINT\n$/)]);
    expect(log.at(-1)).toMatchObject({ type: "session.close", reason: "SIGINT" });
  });

  it("refuses two documents on standard input", async () => {
    const { code, stderr } = await world.run([...invoke, guard, "--context", "-"], "{}");
    expect([code, stderr]).toEqual([2, expect.stringContaining("standard input can be only one")]);
  });
});

it("says what it can do, and that a command lacks what it needs", async () => {
  expect(await run(["--help"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/invoke.*serve.*venv/s) });
  expect(await run(["invoke", "tool_pre_invoke"])).toMatchObject({ code: 2 });
});

function filesIn(folder: string): readonly string[] {
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  return found.filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}
