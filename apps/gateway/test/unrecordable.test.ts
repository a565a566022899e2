import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifyLogs } from "@berth/audit-chain";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { partTest } from "../../../fixtures/parts.js";
import { openSessionLog } from "../src/session-log.js";
import { handshake, startRawClient } from "./acceptance/raw-client.js";
import { bin, connect, gateway, logEntries, plainEnvironment, small, type Workplace, workplace } from "./gateway.js";

const serveArgs = (place: Workplace) => ["serve", "--catalog", place.catalog, "--state", place.state, "--stdio"];
const isCall = (entry: Record<string, unknown>) => entry["method"] === "tools/call";

/** Each outcome names an intent of its own tool; the log verifies. */
async function expectWellMatched(place: Workplace): Promise<Record<string, unknown>[]> {
  const calls = (await logEntries(place.state)).filter(isCall);
  for (const outcome of calls.filter(({ type }) => type === "call.outcome")) {
    const intent = calls.find(({ type, seq, log }) => {
      return type === "call.intent" && seq === outcome["intent"] && log === outcome["log"];
    });
    expect(intent?.["tool"]).toBe(outcome["tool"]);
  }
  const verdict = await gateway(["audit", "verify", "--state", place.state, "--strict", "--json"]);
  expect(JSON.parse(verdict.stdout)).toMatchObject({ ok: true, problems: [] });
  return calls;
}

describe("a name that is no well-formed text", { timeout: 60_000 }, () => {
  it("is recorded in an escaped form, of a call that is made, of one that is refused and of a difference", async () => {
    await using place = await workplace();
    const source = await readFile(place.server, "utf8");
    await writeFile(place.server, source.replace('{ name: "echo"', '{ name: "\\ud800", inputSchema: object },\n  $&'));
    await place.writeCatalog({ one: small(place) });
    await gateway(["pin", "--catalog", place.catalog, "--state", place.state, "--yes"]);
    await writeFile(place.server, source.replace('{ name: "echo"', '{ name: "\\udfff", inputSchema: object },\n  $&'));
    {
      await using gate = await connect([...serveArgs(place), "--observe"]);
      for (const name of ["one__\udfff", "one__echo", "one__\ud8ff", "one__echo"])
        await gate.client.callTool({ name, arguments: { text: "x" } }).catch(() => undefined);
    }
    const calls = await expectWellMatched(place);
    const tools = calls.filter(({ type }) => type !== "call.outcome").map(({ type, tool }) => [type, tool]);
    expect(tools).toEqual([
      ["call.intent", "\\udfff"],
      ["call.intent", "echo"],
      [expect.stringMatching(/^call\.(?:intent|refused)$/u), "\\ud8ff"],
      ["call.intent", "echo"],
    ]);
    const drift = (await logEntries(place.state)).filter(({ type }) => type === "drift");
    expect(drift.map(({ name }) => name)).toContain("\\udfff");
  });
});

describe("a call whose intent cannot be recorded", { timeout: 60_000 }, () => {
  it("is not made, its client is told why, and no outcome names another's intent", async () => {
    await using place = await workplace();
    await place.writeCatalog({ one: small(place) });
    const seen = join(place.folder, "calls");
    const source = await readFile(place.server, "utf8");
    await writeFile(
      place.server,
      `import { appendFileSync } from "node:fs";\n${source.replace("echo: (", `echo: (...words) => (appendFileSync(${JSON.stringify(seen)}, "c"), calls.said(...words)),\n  said: (`)}`,
    );
    await gateway(["pin", "--catalog", place.catalog, "--state", place.state, "--yes"]);
    // No file may grow over 12 KiB, as on a full disk.
    const command = `ulimit -f 24; exec "$0" "$@"`;
    const client = startRawClient("sh", ["-c", command, process.execPath, bin, ...serveArgs(place)], {
      env: plainEnvironment,
    });
    await handshake(client);
    let made = 0;
    let answer = "";
    while (made < 100) {
      answer = await client.request("tools/call", { name: "one__echo", arguments: { text: "x" } });
      if (answer.includes('"error"')) break;
      made += 1;
    }
    expect(made, answer).toBeGreaterThan(2);
    expect(JSON.parse(answer).error).toMatchObject({ code: -32603, data: { reason: "NOT_RECORDED" } });
    expect(answer).toMatch(/could not be recorded, and so was not made.*EFBIG.*make room/u);
    expect(await client.request("tools/call", { name: "one__echo" })).toContain("NOT_RECORDED");
    expect(await client.end()).toBe(1);
    expect(client.stderr()).not.toContain("    at ");
    expect(await readFile(seen, "utf8")).toHaveLength(made);
    await expectWellMatched(place);
  });
});

partTest("util-linux")(
  "calls are made again once there is room, in a log that verifies",
  async () => {
    await using place = await workplace();
    await place.writeCatalog({ one: small(place) });
    await gateway(["pin", "--catalog", place.catalog, "--state", place.state, "--yes"]);
    const command = `ulimit -S -f 24; exec "$0" "$@"`;
    const client = startRawClient("sh", ["-c", command, process.execPath, bin, ...serveArgs(place)], {
      env: plainEnvironment,
    });
    await handshake(client);
    const call = () => client.request("tools/call", { name: "one__echo", arguments: { text: "x" } });
    await expect.poll(call, { timeout: 20_000, interval: 1 }).toContain("NOT_RECORDED");
    spawnSync("prlimit", ["--pid", String(client.process.pid), "--fsize=unlimited"]);
    await expect.poll(call, { timeout: 20_000, interval: 100 }).toContain('"result"');
    expect(await client.end()).toBe(0);
    await expectWellMatched(place);
  },
  60_000,
);

describe("the log of a session", () => {
  it("takes any name, of any length", async () => {
    const folder = await mkdtemp(join(tmpdir(), "berth-log-"));
    try {
      const log = await openSessionLog({ folder, durability: "none", now: Date.now, opening: {} });
      const half = fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit));
      const unit = fc.oneof(fc.string({ unit: "binary", maxLength: 4 }), half, fc.constant("\u0001".repeat(700)));
      const name = fc.array(unit, { maxLength: 8 }).map((parts) => parts.join(""));
      const evidence = { evidence: "spawn-measured", guard: "recheck", coverage: "tree" } as const;
      const count = scaledCount("names", 4_000);
      const request = new Uint8Array();
      await fc.assert(
        fc.asyncProperty(name, name, name, async (server, method, tool) => {
          const subject = { callId: "1", server, method, tool, evidence };
          await log.record({ type: "call.intent", ...subject, definition: "none", request });
          await log.record({ type: "call.outcome", ...subject, status: "result", durationMs: 1 });
          const drift = { kind: "tool", change: "renamed", renamedFrom: method, observed: false } as const;
          await log.record({ type: "drift", server, name: tool, ...drift });
          await log.append({
            type: "spawn",
            server,
            leavesOut: [tool, method, server],
            environmentNames: [tool, tool],
          });
        }),
        { numRuns: count },
      );
      await log.close("DONE");
      expect(await verifyLogs(folder, { strict: true })).toMatchObject({ ok: true, entries: count * 4 + 2 });
    } finally {
      await rm(folder, { recursive: true });
    }
  }, 60_000);

  it("keeps the beginning of a long name and its digest, and says how much of a long list is left out", async () => {
    const folder = await mkdtemp(join(tmpdir(), "berth-log-"));
    try {
      const opening = {
        mode: "n".repeat(1_000_000),
        servers: Array.from({ length: 1_000 }, (_, at) => `server-${at}`),
      };
      const log = await openSessionLog({ folder, durability: "batch", now: Date.now, opening });
      await log.close("DONE");
      const directory = join(folder, log.logId);
      const [segment = ""] = (await readdir(directory)).filter((name) => !name.startsWith("lock"));
      const text = await readFile(join(directory, segment), "utf8");
      expect(text).toMatch(/"mode":"n{900}… sha256:[0-9a-f]{64}"/u);
      expect(text).toMatch(/"server-0",.*"… and \d+ more"\]/u);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
