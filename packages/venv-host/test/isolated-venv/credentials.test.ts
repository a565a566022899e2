import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import type { Credential } from "../../src/executor/credentials.js";
import {
  callOf,
  entryOf,
  filesIn,
  makeCwd,
  makeEnvironment,
  openPlugin,
  processTexts,
  taskOf,
  temporaryFolder,
} from "./plugins.js";

const token = "eyJhbGciOi.token-of-ann.0123456789abcdef";
const shown = `sha256:${createHash("sha256").update(token).digest("hex")}`;
const inbound: Credential = { inbound: { token, kind: "jwt", sourceHeader: "Authorization" } };
const delegated: Credential = { delegated: { token, outboundHeader: "X-Token", audience: "api", scopes: ["a", "b"] } };
const capabilities = ["read_inbound_credentials", "read_delegated_tokens"];

describe("a credential", () => {
  it.each([
    {
      name: "inbound",
      hook: "identity_resolve",
      credential: inbound,
      sent: {
        inbound: { token: shown, source_header: "Authorization", kind: "jwt", headers: { Authorization: shown } },
      },
    },
    {
      name: "delegated",
      hook: "token_delegate",
      credential: delegated,
      sent: { delegated: { token: shown, outbound_header: "X-Token", audience: "api", scopes: ["a", "b"] } },
    },
  ])("($name) is attached with the names of the contract", async ({ hook, credential, sent }) => {
    const plugin = await openPlugin(entryOf("Echo", { hooks: [hook], capabilities }));
    expect((await taskOf(plugin, callOf({ raw_token: "**********" }, { hook, credential })))["credential"]).toEqual(
      sent,
    );
  });

  it("that the executor does not give is no field, and the next task has none either", async () => {
    const plugin = await openPlugin(entryOf("Echo", { capabilities }));
    await taskOf(plugin, callOf({}, { credential: inbound }));
    expect(await taskOf(plugin, callOf({}))).not.toHaveProperty("credential");
  });

  it.each([
    { name: "raises with it", payload: {}, code: "WORKER_ERROR" },
    { name: "dies with it", payload: { die: true }, code: "WORKER_DIED" },
    { name: "writes it where the line is cut", payload: { die: true, pad: 8_180 }, code: "WORKER_DIED" },
    { name: "writes it where the excerpt is cut", payload: { die: true, pad: 40 }, code: "WORKER_DIED" },
  ])("of a plugin that $name is in no error and no line", async ({ payload, code }) => {
    const log: string[] = [];
    const plugin = await openPlugin(entryOf("Leak", { capabilities }), { onLog: (line) => log.push(line) });
    const error: unknown = await plugin
      .call(callOf(payload, { credential: inbound }), {})
      .catch((fault: unknown) => fault);
    expect(error).toMatchObject({ code });
    await plugin.close();
    const seen = [
      inspect(error, { depth: 9, showHidden: true }),
      JSON.stringify(error),
      inspect(plugin, { depth: 9, showHidden: true }),
      ...log,
    ].join("\n");
    expect(seen).not.toContain(token);
    expect(seen).not.toContain(token.slice(0, 8));
    expect(seen).toContain("**********");
    expect(log.some((line) => line.startsWith("on stderr:"))).toBe(true);
    expect(log.some((line) => line.startsWith("stdout: on stdout:"))).toBe(true);
  });

  it("is in no argument, variable or file, while the plugin has it and afterwards", async () => {
    const temporary = temporaryFolder();
    const environment = makeEnvironment();
    const cwd = makeCwd();
    const env = { PATH: process.env["PATH"], TMPDIR: temporary };
    const plugin = await openPlugin(entryOf("Slow", { capabilities }), { environment, cwd, env });
    const running = plugin.call(callOf({ ms: 500 }, { credential: inbound }), {});
    const looks = [];
    for (let isRunning = true; isRunning; ) {
      looks.push(...processTexts(environment.path));
      isRunning = await Promise.race([
        running.then(() => false),
        new Promise<boolean>((resolve) => setImmediate(resolve, true)),
      ]);
    }
    expect(looks.length).toBeGreaterThan(0);
    expect(looks.filter((text) => text.includes(token))).toEqual([]);
    await plugin.close();
    const files = [temporary, cwd, environment.path].flatMap((folder) => filesIn(folder));
    expect(files.filter((path) => readFileSync(path).includes(token))).toEqual([]);
  });

  it("of a task that is too large, or that times out, is in no error", async () => {
    const config = { class_name: "cpex_stub.Slow", max_content_size: 2_000, timeout_secs: 0.2 };
    const plugin = await openPlugin(entryOf("Slow", { capabilities, config }));
    for (const payload of [{ ms: 30_000 }, { ms: 1, fill: "x".repeat(3_000) }]) {
      const error: unknown = await plugin
        .call(callOf(payload, { credential: inbound }), {})
        .catch((fault: unknown) => fault);
      expect(error).toMatchObject({ code: expect.stringMatching(/^(WORKER_TIMEOUT|TASK_TOO_LARGE)$/u) });
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(token);
    }
  });
});
