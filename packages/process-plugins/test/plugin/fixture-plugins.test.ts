import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { fixturesFolder } from "../support/fixture-plugins.js";
import { type FixtureName, fixtureNames, readyPlugin } from "./fixture-plugin.js";
import { type PluginProcess, startPlugin } from "./plugin-process.js";
import { call, protocolRows, type Row, type Step, stepsTo } from "./protocol-table.js";

const subject = {
  name: "smoke",
  version: "1.0.0",
  health: { status: "ok" },
  capabilities: { mcp: true, health: true },
};
const textOf = (...path: readonly string[]): string => readFileSync(join(fixturesFolder, ...path), "utf8");
/** A start of the one with the library takes seconds on a busy machine, and its library is installed before the first. */
const timeout = 900_000;

async function run(plugin: PluginProcess, steps: readonly Step[]): Promise<void> {
  for (const [send, answer] of steps) {
    plugin.send(send);
    if (answer !== undefined) expect(await plugin.next()).toEqual(answer);
  }
}

/** Rows that leave the state as it is share a process. */
function runsOf(rows: readonly Row[]): readonly (readonly Row[])[] {
  const of = (state: Row["state"]): readonly Row[] => rows.filter((row) => row.state === state);
  return [...[...of("spawned"), ...of("stopped")].map((row) => [row]), of("created"), of("running")];
}

/** The object that a tool answered, which is also its text. */
async function ask(plugin: PluginProcess, name: string, input: object): Promise<unknown> {
  plugin.send(call(1, name, input));
  const answer = await plugin.next();
  expect(answer).toMatchObject({ result: { isError: false, content: [{ type: "text" }] } });
  const { structuredContent, content } = Object(Object(answer).result);
  expect(JSON.parse(content[0].text)).toEqual(structuredContent);
  return structuredContent;
}

interface Target extends AsyncDisposable {
  readonly folder: string;
  readonly secret: string;
  readonly told: object;
  readonly port: number;
  readonly socket: string;
  readonly abstractName: string;
}

/** What attempts aim at, outside of any sandbox: all of it can be reached. */
async function openTarget(): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), "berth-target-"));
  const content = randomBytes(32);
  const secret = join(folder, "secret");
  writeFileSync(secret, content);
  const socket = join(folder, "socket");
  const abstractName = `berth-fixture-${process.pid}-${randomBytes(8).toString("hex")}`.padEnd(107, "-");
  const servers: Server[] = [];
  const listen = async (to: object): Promise<Server> => {
    const server = createServer((connection) => connection.destroy());
    servers.push(server);
    server.listen(to);
    await once(server, "listening");
    return server;
  };
  const address = (await listen({ port: 0, host: "127.0.0.1" })).address();
  await listen({ path: socket });
  await listen({ path: `\0${abstractName}` });
  return {
    ...{ folder, secret, socket, abstractName },
    told: { bytes: 32, sha256: createHash("sha256").update(content).digest("hex") },
    port: typeof address === "object" && address !== null ? address.port : 0,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function withPlugin(
  name: FixtureName,
  context: TestContext,
  use: (start: () => PluginProcess, root: string) => Promise<void>,
): Promise<void> {
  const { root, command, remove } = readyPlugin(name, context);
  try {
    await use(() => startPlugin(command, [], root), root);
  } finally {
    remove();
  }
}

describe.each(fixtureNames)("%s", (name) => {
  it("answers word for word as the table of the protocol says", { timeout }, (context) =>
    withPlugin(name, context, async (start) => {
      for (const rows of runsOf(protocolRows)) {
        await using plugin = start();
        await run(plugin, [
          ...stepsTo(rows[0]?.state ?? "spawned", subject),
          ...rows.flatMap((row) => row.steps(subject)),
        ]);
        expect(await plugin.end()).toEqual({ rest: [], code: 0 });
      }
    }),
  );

  it("passes over a line that is too long, and goes on", { timeout }, (context) =>
    withPlugin(name, context, async (start) => {
      await using plugin = start();
      await run(plugin, stepsTo("running", subject));
      plugin.send(Buffer.alloc(4_194_305, "x"));
      expect(await plugin.next()).toMatchObject({ id: null, error: { code: -32700 } });
      plugin.send(call(1, "echo", { text: "x" }));
      expect(await plugin.next()).toMatchObject({ result: { content: [{ text: "x" }] } });
    }),
  );

  it(
    "tells what it read and reached where nothing confines it, and the errno where it was refused",
    { timeout },
    (context) =>
      withPlugin(name, context, async (start) => {
        await using target = await openTarget();
        await using plugin = start();
        await run(plugin, stepsTo("running", subject));
        const absent = join(target.folder, "absent");
        expect(await ask(plugin, "escape_secrets", { secretsDir: target.folder, otherDataDir: absent })).toEqual({
          control: { wrote: true, readBack: true, equal: true },
          secrets: { outcome: "read", ...target.told },
          other: { outcome: "refused", errno: 2, name: "ENOENT" },
        });
        expect(existsSync(join(plugin.dataFolder, "control"))).toBe(false);
        const { port } = target;
        expect(await ask(plugin, "escape_network", { host: "127.0.0.1", port })).toEqual({ outcome: "connected" });
        const nobody = await ask(plugin, "escape_network", { host: "127.0.0.1", port: 1 });
        expect(nobody).toEqual({ outcome: "refused", errno: 111, name: "ECONNREFUSED" });
      }),
  );

  it("makes the attempts that its language can express, and says which it cannot", { timeout }, (context) =>
    withPlugin(name, context, async (start, root) => {
      await using target = await openTarget();
      await using plugin = start();
      await run(plugin, stepsTo("running", subject));
      const attempt = (id: string, aim: object = {}): Promise<unknown> =>
        ask(plugin, "escape_attempt", { attempt: id, ...aim });
      const path = target.secret;
      for (const id of ["secret-path", "other-owner", "dot-dot-path", "symbolic-link", "hard-link"])
        expect(await attempt(id, { path }), id).toEqual({ outcome: "succeeded", ...target.told });
      const absent = { path: join(target.folder, "absent") };
      expect(await attempt("secret-path", absent)).toEqual({ outcome: "refused", errno: 2, name: "ENOENT" });
      expect(await attempt("measured-tree")).toEqual({ outcome: "succeeded" });
      expect(existsSync(join(root, "added"))).toBe(false);
      expect(await attempt("host-loopback", { port: target.port })).toEqual({ outcome: "succeeded" });
      const local = name === "smoke-shell" ? "unsupported" : "succeeded";
      expect(await attempt("path-socket", { socket: target.socket })).toEqual({ outcome: local });
      expect(await attempt("abstract-socket", { socket: target.abstractName })).toEqual({ outcome: local });
      expect(await attempt("no-such-attempt")).toEqual({ outcome: "unsupported" });
      const victim = spawn("sleep", ["600"]);
      await once(victim, "spawn");
      const ended = once(victim, "exit");
      expect(await attempt("signal", { pid: victim.pid })).toEqual({ outcome: "succeeded" });
      expect(await ended).toEqual([null, "SIGUSR1"]);
    }),
  );
});

describe.each(fixtureNames.filter((name) => name !== "smoke-typescript"))("%s", (name) => {
  it("sees a descriptor that it inherited", { timeout }, (context) =>
    withPlugin(name, context, async (_, root) => {
      const heir = ["-c", 'exec "$0" 3</dev/null', join(root, "bin", "plugin")];
      await using plugin = startPlugin("/bin/sh", heir, root);
      await run(plugin, stepsTo("running", subject));
      expect(await ask(plugin, "escape_attempt", { attempt: "inherited-descriptor" })).toEqual({
        outcome: "succeeded",
      });
    }),
  );
});

describe("the five fixture plugins", () => {
  it.each(["expected.jsonl", "plugin.json"])("have one %s", (file) => {
    expect(new Set(fixtureNames.map((name) => textOf(name, file))).size).toBe(1);
  });

  it("are checked with the same calls", () => {
    const calls = fixtureNames.map((name) => JSON.stringify(JSON.parse(textOf(name, "check.json")).calls));
    expect(new Set(calls).size).toBe(1);
    expect(calls[0]).toContain("escape_attempt");
  });

  it.each([
    { copy: "smoke-python/berth_plugin.py", of: "../../packages/process-plugins/python/berth_plugin.py" },
    { copy: "smoke-mcp/smoke_tools.py", of: "smoke-python/smoke_tools.py" },
    { copy: "smoke-mcp/smoke_attempts.py", of: "smoke-python/smoke_attempts.py" },
  ])("have in $copy the same as in $of", ({ copy, of }) => {
    expect(textOf(copy)).toBe(textOf(of));
  });
});
