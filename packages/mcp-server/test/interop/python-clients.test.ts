import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { partTest, pythonOf } from "../../../../fixtures/parts.js";
import { serverProgram } from "./answers.js";
import { features } from "./features/all.js";
import { textOf } from "./features/feature.js";
import { connectSdk2 } from "./sdk-2.js";
import { type Served, serveInterop } from "./served.js";

const program = fileURLToPath(new URL("./python/run.py", import.meta.url));
const extras = [
  "ping by the server",
  "a bearer token",
  "an earlier discovery",
  "the tasks extension",
  "resumption",
  "which revision is agreed on",
  "a cache",
];
/** Outcomes by feature, by way of connecting: "ok", or "cannot: " and the reason that the program found. */
type Seen = Readonly<Record<string, Readonly<Record<string, string>>>>;
let served: Served;

beforeAll(async () => {
  served = await serveInterop();
});
afterAll(() => served.stop());

async function seenBy(line: "mcp" | "fastmcp"): Promise<Seen> {
  const args = [program, line, process.execPath, serverProgram, served.url.href, served.token];
  const { stdout } = await promisify(execFile)(pythonOf(line), args, { timeout: 110_000 });
  return JSON.parse(stdout);
}

/** What this way has no interface for: README.md says why, and the program checks it. */
function beyond(line: "mcp" | "fastmcp", way: string): readonly string[] {
  const [client, mode, where] = way.split(", ");
  const era = mode === "legacy" ? "legacy" : "modern";
  const isSession = client === "ClientSession";
  const isPinned = !isSession && mode === "2026-07-28";
  const discovers = era === "modern" && !isPinned;
  const rows: readonly (readonly [feature: string, isBeyond: boolean])[] = [
    ["timeout reset by progress", true],
    ["elicitation: defaults", line === "mcp"],
    ["revision, server info, instructions, capabilities", isPinned],
    ["ping by the server", era === "modern" || where === "http"],
    ["a bearer token", where === "stdio"],
    ["an earlier discovery", !discovers],
    ["the tasks extension", era === "legacy" || isSession],
    ["which revision is agreed on", where === "http"],
    ["a cache", era === "legacy" || isSession],
    ["resumption", era === "modern" || where === "stdio"],
  ];
  return rows.filter(([, isBeyond]) => isBeyond).map(([feature]) => feature);
}

async function sessionsLeft(): Promise<string> {
  const transport = new StreamableHTTPClientTransport(served.url, { requestInit: { headers: { ...served.headers } } });
  await using client = await connectSdk2(transport, { pin: "2026-07-28" });
  return textOf(await client.call("sessions"));
}

const lines = [
  { line: "mcp", part: "python-mcp", ways: 10 },
  { line: "fastmcp", part: "fastmcp", ways: 6 },
] as const;

describe("Python's clients over stdio and HTTP", () => {
  for (const { line, part, ways } of lines) {
    partTest(part)(
      `${line}, however it connects, uses all that it has an interface for, and ends its sessions`,
      async () => {
        const seen = await seenBy(line);
        expect(Object.keys(seen)).toHaveLength(ways);
        const names = [...features.map(({ name }) => name), ...extras];
        for (const [way, outcomes] of Object.entries(seen)) {
          expect(Object.keys(outcomes).sort(), way).toEqual(names.sort());
          const failed = Object.entries(outcomes).filter(([, outcome]) => !/^(ok$|cannot: )/.test(outcome));
          expect(failed, way).toEqual([]);
          const cannot = names.filter((name) => outcomes[name] !== "ok");
          expect(cannot, way).toEqual([...beyond(line, way)].sort());
        }
        expect(await sessionsLeft()).toBe("0");
      },
      120_000,
    );
  }
});
