import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync } from "node:fs";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { partsForAll } from "../../../fixtures/parts.js";
import {
  type Connected,
  connect,
  type GatewayOptions,
  gateway,
  logEntries,
  small,
  type Workplace,
  workplace,
} from "./gateway.js";
import { entryOf, pluginPlace } from "./plugin-place.js";

const stub = fileURLToPath(new URL("../../../fixtures/cpex-stub/cpex", import.meta.url));
type Entries = readonly Record<string, unknown>[];
const readme = await readFile(fileURLToPath(new URL("../README.md", import.meta.url)), "utf8");
const ofAll = ["seq", "time", "type", "session", "prev", "hash", "clock", "log"];
const names = (text: string): string[] => [...text.matchAll(/`([A-Za-z0-9.]+)`/gu)].map(([, name = ""]) => name);
/** Members by type, as the README's table says; what stands in parentheses is values. */
const table: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  readme
    .slice(readme.indexOf("| Type "), readme.indexOf("All entries have"))
    .split("\n")
    .slice(2)
    .filter((row) => row.startsWith("|"))
    .map((row) => {
      const [, type = "", members = ""] = row.split("|");
      return [names(type)[0] ?? "", new Set(names(members.replace(/\([^)]*\)/gu, "")))];
    }),
);

/** A server that changes its own file when it starts, and so is not what was measured. */
const selfChanging = `import { appendFileSync } from "node:fs";
appendFileSync(process.argv[1], "// changed\\n");
await import("./small-server.mjs");
`;
/** Tools that are refused, renamed and changed under the same program. */
const before = { SMALL_DESCRIPTION: "as pinned", SMALL_EXTRA: "old" };
const after = { SMALL_DESCRIPTION: "another", SMALL_EXTRA: "fresh" };

async function prepare(place: Workplace): Promise<void> {
  const self = join(place.folder, "self", "server.mjs");
  await cp(join(place.folder, "small"), join(place.folder, "self"), { recursive: true });
  await writeFile(self, selfChanging);
  const extras = { inheritEnv: ["SMALL_DESCRIPTION", "SMALL_EXTRA"] };
  await place.writeCatalog({
    one: small(place, extras),
    self: small(place, { args: [self] }),
    gone: small(place, { args: [join(place.folder, "gone.mjs")] }),
    far: { transport: "streamable-http", url: "https://example.com/mcp", tlsFingerprint: `SHA256:${"k".repeat(43)}` },
  });
}

/** Calls that may well be refused: what matters is what the log says of them. */
async function session(args: readonly string[], options: GatewayOptions, calls: readonly string[]): Promise<void> {
  await using gate = await connect(args, options);
  await gate.client.listTools().catch(() => undefined);
  for (const name of calls) await gate.client.callTool({ name, arguments: { text: "x" } }).catch(() => undefined);
}

async function provokeAll(place: Workplace): Promise<Entries> {
  await prepare(place);
  const common = ["--catalog", place.catalog, "--state", place.state];
  const serve = ["serve", ...common, "--stdio"];
  await gateway(["pin", ...common, "--yes"], { env: before });
  const calls = ["one__environment", "one__echo", "one__nothing", "self__echo", "gone__echo", "far__echo"];
  await session(serve, { env: after }, calls);
  await session([...serve, "--observe"], { env: after }, calls);
  // A child that a signal ended, and a first use of each kind.
  const source = await readFile(place.server, "utf8");
  await writeFile(place.server, source.replace('text("gone")', 'process.kill(process.pid, "SIGKILL")'));
  await session([...serve, "--observe"], { env: before }, ["one__delete_note"]);
  const run = ["run", "--state", place.state, "--", process.execPath];
  await session([...run, place.server], {}, ["echo"]);
  await expect(session([...run, join(place.folder, "self", "server.mjs")], {}, [])).rejects.toThrow("-31100");
  return logEntries(place.state);
}

/** An environment beside the plugin's code, as the framework's own installer leaves it. */
async function installBeside(place: Workplace): Promise<void> {
  const root = join(place.folder, "hooks", "plugins", "other_pkg");
  await cp(join(place.folder, "hooks", "plugins", "my_pkg"), root, { recursive: true });
  execFileSync("python3", ["-m", "venv", "--without-pip", join(root, ".venv")]);
  for (const found of globSync(join(root, ".venv", "lib", "*", "site-packages")))
    await cp(stub, join(found, "cpex"), { recursive: true });
  await mkdir(join(root, ".cpex", "venv_cache"), { recursive: true });
  const requirements_hash = createHash("sha256").update("").digest("hex");
  const metadata = { venv_path: join(root, ".venv"), requirements_file: null, requirements_hash, python_version: null };
  await writeFile(join(root, ".cpex", "venv_cache", "other_pkg-Guard_metadata.json"), JSON.stringify(metadata));
}

/** Cancels a call while a plugin is asked. */
async function takeBack({ client }: Connected, { folder }: Workplace): Promise<void> {
  const ending = new AbortController();
  const asked = join(folder, "asked");
  await rm(asked, { force: true });
  const call = { name: "echo", arguments: { what: "wait", at: folder } };
  const cancelled = client.callTool(call, undefined, { signal: ending.signal }).catch(() => undefined);
  await vi.waitUntil(() => existsSync(asked), { timeout: 60_000 });
  ending.abort();
  await cancelled;
  await client.ping();
}

/** What plugins add: environments of each origin, decisions of each kind. */
async function provokePlugins(): Promise<Entries> {
  const plain = entryOf("Guard", "prompt_pre_fetch").replace(", requirements_file: requirements.txt", "");
  const broken = `${entryOf("Guard").replace("requirements.txt", "absent.txt")}, on_error: ignore`;
  await using place = await pluginPlace({
    guard: entryOf("Guard"),
    other: plain.replace("my_pkg", "other_pkg"),
    broken,
  });
  await installBeside(place);
  const calls = ["mask", "deny", "secret"].map((what) => ({ name: "echo", arguments: { what } }));
  for (let turn = 0; turn < 2; turn += 1) {
    await using gate = await place.open();
    for (const call of calls) await gate.client.callTool(call).catch(() => undefined);
    await takeBack(gate, place);
    await gate.close();
    const files = globSync(join(place.state, "venvs", "**", "site-packages", "cpex", "__init__.py"));
    expect(files.length).toBe(1);
    for (const file of files) await rm(file); // the next session builds it anew, and says why
  }
  return await logEntries(place.state); // before the place is gone
}

describe("the README's table of log entries", { timeout: 240_000 }, () => {
  const written = new Map<string, Set<string>>();
  const isReady = partsForAll("python3-venv");
  beforeAll(async () => {
    if (!isReady) return;
    await using place = await workplace();
    for (const found of [...(await provokeAll(place)), ...(await provokePlugins())]) {
      const type = String(found["type"]);
      const members = written.get(type) ?? new Set();
      for (const name of Object.keys(found)) if (!ofAll.includes(name)) members.add(name);
      written.set(type, members);
    }
  }, 240_000);

  it("names every type and member that a session writes", () => {
    for (const [type, members] of written) {
      const missing = [...members].filter((name) => table.get(type)?.has(name) !== true);
      expect({ type, missing }).toEqual({ type, missing: [] });
    }
  });

  it("names no type and no member that no session writes", () => {
    for (const [type, members] of table) {
      const invented = [...members].filter((name) => written.get(type)?.has(name) !== true);
      expect({ type, invented }).toEqual({ type, invented: [] });
    }
  });
});
