import { spawnSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { gateway, plainEnvironment, small, type Workplace, workplace } from "./gateway.js";

/** Clears the screen, starts a line of its own, turns the text around, and does so by C1 too. */
const evil = "\u001b[2Jdelete\npinned: yes\r\u202e\u009b31m\u200b";
const literal = JSON.stringify(evil);
/** What a terminal acts on or hides, the ends of our own lines apart. */
const acting = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}]/u;

/** A server whose every text is hostile, in a package whose every text is. */
async function hostilePlace(place: Workplace): Promise<string[]> {
  const source = await readFile(place.server, "utf8");
  const tool = `{ name: ${literal}, title: ${literal}, description: ${literal}, inputSchema: object },\n  `;
  await writeFile(
    place.server,
    source
      .replace('{ name: "echo"', `${tool}$&`)
      .replace('name: "small", version: "1.0.0"', `name: ${literal}, version: ${literal}`)
      .replace('"Say it once."', `process.env.SMALL_DESCRIPTION ?? ${literal}`),
  );
  const texts = { name: evil, version: evil, author: evil };
  await writeFile(join(place.folder, "small", "package.json"), JSON.stringify({ ...texts, type: "module" }));
  await writeFile(join(place.folder, "small", `no${"\u001b[2J\u202e"}te`), "");
  await place.writeCatalog({ one: small(place, { inheritEnv: ["SMALL_DESCRIPTION"] }) });
  return ["--catalog", place.catalog, "--state", place.state];
}

describe("texts of servers, packages and files on a terminal", { timeout: 60_000 }, () => {
  it("are shown by pin so that nothing acts or hides, also where they changed, and are whole in its JSON", async () => {
    await using place = await workplace();
    const common = await hostilePlace(place);
    const first = await gateway(["pin", ...common, "--yes"], { env: { SMALL_DESCRIPTION: "before" } });
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).toContain("delete\\u{a}pinned: yes");
    const second = await gateway(["pin", ...common], { env: { SMALL_DESCRIPTION: evil } });
    expect(second.code).toBe(3);
    expect(second.stdout).toContain("instructions");
    const asJson = await gateway(["pin", ...common, "--json"], { env: { SMALL_DESCRIPTION: evil } });
    expect(JSON.parse(asJson.stdout).servers.one.tools).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: evil })]),
    );
    for (const { stdout, stderr } of [first, second, asJson]) expect(stdout + stderr).not.toMatch(acting);
  });

  it("are shown by audit and status so that nothing acts or hides", async () => {
    await using place = await workplace();
    const common = await hostilePlace(place);
    await gateway(["pin", ...common, "--yes"], { env: { SMALL_DESCRIPTION: "x" } });
    const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: `one__${evil}` } };
    await gateway(["serve", ...common, "--stdio"], {
      env: { SMALL_DESCRIPTION: "x" },
      input: `${JSON.stringify(hello)}\n${JSON.stringify(call)}\n`,
      inputUntil: '"id":2',
    });
    for (const command of [["audit", "tail"], ["audit", "tail", "--json"], ["audit", "verify"], ["status"]]) {
      const { stdout, stderr } = await gateway([...command, "--state", place.state]);
      expect(stdout.length).toBeGreaterThan(40);
      expect(stdout + stderr, command.join(" ")).not.toMatch(acting);
    }
    const { stdout } = await gateway(["audit", "tail", "--state", place.state]);
    expect(stdout).toContain('tool="\\u{1b}[2Jdelete\\u{a}pinned');
  });

  it("are shown so in what is wrong with a file, by import, serve and doctor", async () => {
    await using place = await workplace();
    const folder = join(place.folder, `a${"\u001b[2J\u202e"}`);
    await mkdir(folder);
    const client = join(folder, "client.json");
    await writeFile(client, JSON.stringify({ mcpServers: { [evil]: { command: evil, args: [evil] } } }));
    const catalog = join(folder, "catalog.json");
    await writeFile(catalog, JSON.stringify({ version: 1, servers: { [evil]: {} }, [evil]: 1 }));
    const config = join(folder, "gateway.yaml");
    await writeFile(config, `${JSON.stringify(evil)}: 1\n`);
    for (const args of [
      ["import", client],
      ["import", client, "--json"],
      ["serve", "--stdio", "--catalog", catalog, "--state", place.state],
      ["serve", "--stdio", "--catalog", catalog, "--config", config],
      ["doctor", "--catalog", catalog, "--config", config, "--state", place.state],
      ["doctor", "--catalog", catalog, "--config", config, "--state", place.state, "--json"],
    ]) {
      const { stdout, stderr } = await gateway(args);
      expect(stdout + stderr, args[0]).toMatch(/2J/u);
      expect(stdout + stderr, args[0]).not.toMatch(acting);
    }
    const imported = JSON.parse((await gateway(["import", client])).stdout);
    expect(Object.values(imported.servers)).toMatchObject([{ spawn: { command: evil, args: [evil] } }]);
  });

  it("do not fill the screen: a name without end is cut, and that is said", async () => {
    await using place = await workplace();
    await place.writeCatalog({ one: small(place, { inheritEnv: ["SMALL_EXTRA"] }) });
    const extra = "x".repeat(100_000);
    const { stdout } = await gateway(["pin", "--catalog", place.catalog, "--state", place.state], {
      env: { SMALL_EXTRA: extra },
    });
    expect(stdout).toMatch(/x… \(\d{6} characters\)\n/u);
    expect(stdout.length).toBeLessThan(20_000);
  });

  partTest("python3")("are shown so by the log at a terminal: stderr of servers, messages and stacks", () => {
    const driver = fileURLToPath(new URL("servers/at_terminal.py", import.meta.url));
    const logger = JSON.stringify(import.meta.resolve("@berth/command-line"));
    const script = `const { createLogger } = await import(${logger}); const log = await createLogger("info");
      log.info({ stderr: ${literal} }, ${literal}); log.info(${literal}); log.error({ err: new Error(${literal}) }, "x");`;
    const { stdout, status } = spawnSync(
      "python3",
      [driver, "never", "", process.execPath, "--no-warnings", "--input-type=module", "-e", script],
      { env: { ...plainEnvironment, TERM: "xterm" }, encoding: "utf8", timeout: 30_000 },
    );
    expect(status).toBe(0);
    // The log's own colours and line ends apart.
    const plain = stdout.replace(new RegExp(`${evil[0]}\\[\\d+m|\\r\\n`, "gu"), "");
    expect(plain).toContain("\\u{1b}[2J");
    expect(plain).not.toMatch(acting);
  });
});

const hello = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};
