import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { connect, type GatewayOptions, gateway, logEntries, small, type Workplace, workplace } from "./gateway.js";

type Entries = readonly Record<string, unknown>[];
const readme = await readFile(fileURLToPath(new URL("../README.md", import.meta.url)), "utf8");
const ofAll = ["seq", "time", "type", "session", "prev", "hash", "clock", "log"];
const names = (text: string): string[] => [...text.matchAll(/`([A-Za-z.]+)`/gu)].map(([, name = ""]) => name);
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

describe("the README's table of log entries", { timeout: 120_000 }, () => {
  const written = new Map<string, Set<string>>();
  beforeAll(async () => {
    await using place = await workplace();
    for (const found of await provokeAll(place)) {
      const type = String(found["type"]);
      const members = written.get(type) ?? new Set();
      for (const name of Object.keys(found)) if (!ofAll.includes(name)) members.add(name);
      written.set(type, members);
    }
  }, 120_000);

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
