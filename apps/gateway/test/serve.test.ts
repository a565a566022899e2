import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { connect, gateway, logEntries, small, type Workplace, workplace } from "./gateway.js";

const serveArgs = (place: Workplace, ...args: string[]) => [
  "serve",
  "--catalog",
  place.catalog,
  "--state",
  place.state,
  "--stdio",
  ...args,
];
const pin = (place: Workplace, env: Record<string, string> = {}) =>
  gateway(["pin", "--catalog", place.catalog, "--state", place.state, "--yes"], { env });
const said = (text: string) => ({ content: [{ type: "text", text }] });
/** The JSON-RPC error that a call ended with. */
const errorOf = async (call: Promise<unknown>): Promise<Record<string, unknown>> => {
  try {
    await call;
  } catch (error) {
    if (error instanceof Error) return { ...error, message: error.message };
  }
  throw new Error("the call did not fail");
};

describe("berth-gateway serve --stdio", { timeout: 60_000 }, () => {
  it("offers the tools of all servers under unambiguous names and relays calls", async () => {
    await using place = await workplace();
    await place.writeCatalog({ one: small(place), two: small(place) });
    await pin(place);
    await using gate = await connect(serveArgs(place));
    const { tools } = await gate.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      ["one", "two"].flatMap((server) => ["echo", "environment", "delete_note"].map((tool) => `${server}__${tool}`)),
    );
    expect(await gate.client.callTool({ name: "two__echo", arguments: { text: "hello" } })).toEqual(said("hello"));
    expect((await gate.client.listPrompts()).prompts.map(({ name }) => name)).toEqual(["one__greet", "two__greet"]);
  });

  it("names tools plainly when gateway.yaml says so", async () => {
    await using place = await workplace();
    await place.writeCatalog({ one: small(place) });
    await pin(place);
    const config = join(place.folder, "gateway.yaml");
    await writeFile(config, "names: plain\n");
    await using gate = await connect(serveArgs(place, "--config", config));
    expect(await gate.client.callTool({ name: "echo", arguments: { text: "x" } })).toEqual(said("x"));
  });

  it("writes each call with its evidence, and the log verifies", async () => {
    await using place = await workplace();
    await place.writeCatalog({ one: small(place) });
    await pin(place);
    {
      await using gate = await connect(serveArgs(place));
      await gate.client.callTool({ name: "one__echo", arguments: { text: "a payload that stays out" } });
    }
    const all = await logEntries(place.state);
    const session = all.findLast(({ type }) => type === "session.open")?.["session"];
    const entries = all.filter((entry) => entry["session"] === session);
    expect(entries[0]).toMatchObject({
      type: "session.open",
      mode: "serve",
      catalogDigest: expect.stringMatching(/^sha256:/u),
      allowUnmeasuredSpawn: false,
      guardDefault: "recheck",
      servers: ["one"],
    });
    const types = entries.map(({ type }) => type);
    expect(types.filter((type) => type !== "call.intent" && type !== "call.outcome")).toEqual([
      "session.open",
      "spawn",
      "child.exit",
      "session.close",
    ]);
    const intent = entries.find(({ type, method }) => type === "call.intent" && method === "tools/call");
    const outcome = entries.find(({ type, method }) => type === "call.outcome" && method === "tools/call");
    const digest = expect.stringMatching(/^sha256:[0-9a-f]{64}$/u);
    const evidence = {
      server: "one",
      method: "tools/call",
      tool: "echo",
      evidence: "spawn-measured",
      guard: "recheck",
      coverage: "tree",
    };
    expect(intent).toMatchObject({
      ...evidence,
      definition: "pinned",
      requestBytes: expect.any(Number),
      requestDigest: digest,
    });
    expect(outcome).toMatchObject({
      ...evidence,
      intent: intent?.["seq"],
      status: "result",
      responseBytes: expect.any(Number),
      responseDigest: digest,
      durationMs: expect.any(Number),
      stderrBytes: "small server is up\n".length,
    });
    expect(["namespace", "group"]).toContain(intent?.["containment"]);
    expect(JSON.stringify(all)).not.toContain("a payload that stays out");
    expect(await gateway(["audit", "verify", "--state", place.state, "--json"])).toMatchObject({ code: 0 });
  });

  it("refuses a server that is not pinned, still answers for it, and names command and key", async () => {
    await using place = await workplace();
    await place.writeCatalog({ fresh: small(place), good: small(place) });
    await gateway(["pin", "--catalog", place.catalog, "--state", place.state, "--yes", "--server", "good"]);
    await using gate = await connect(serveArgs(place));
    expect((await gate.client.listTools()).tools.map(({ name }) => name)).toEqual([
      "good__echo",
      "good__environment",
      "good__delete_note",
    ]);
    const error = await errorOf(gate.client.callTool({ name: "fresh__echo" }));
    expect(error).toMatchObject({
      code: -31100,
      data: { reason: "NOT_PINNED", server: "fresh", measured: expect.stringMatching(/^tree-v1:/u) },
    });
    expect(error["message"]).toContain(`berth-gateway pin --catalog ${place.catalog} --server fresh`);
    expect(error["message"]).toContain("attestation.allowUnmeasuredSpawn");
    expect(await gate.client.callTool({ name: "good__echo", arguments: { text: "x" } })).toEqual(said("x"));
  });

  it("refuses a server whose files changed by one byte, with both digests, and shows its pinned tools", async () => {
    await using place = await workplace();
    await place.writeCatalog({ one: small(place) });
    await pin(place);
    const pinned = JSON.parse(await readFile(place.catalog, "utf8")).servers.one.spawn.digest;
    const note = join(place.folder, "small", "small-note.mjs");
    await writeFile(note, (await readFile(note, "utf8")).replace('""', '"!"'));
    {
      await using gate = await connect(serveArgs(place));
      expect((await gate.client.listTools()).tools).toHaveLength(3);
      const error = await errorOf(gate.client.callTool({ name: "one__echo", arguments: { text: "x" } }));
      expect(error).toMatchObject({
        code: -31100,
        data: {
          reason: "DIGEST_MISMATCH",
          server: "one",
          target: place.server,
          expected: pinned,
          measured: expect.not.stringContaining(pinned),
        },
      });
      expect(error["message"]).toContain("berth-gateway pin");
    }
    const entries = await logEntries(place.state);
    expect(entries.find(({ type }) => type === "spawn.refused")).toMatchObject({
      server: "one",
      reason: "DIGEST_MISMATCH",
      expected: pinned,
      digest: expect.any(String),
      target: place.server,
    });
    expect(entries.find(({ type }) => type === "call.refused")).toMatchObject({
      server: "one",
      tool: "echo",
      code: -31100,
      reason: "DIGEST_MISMATCH",
    });
  });

  it("hides and refuses a tool that is not the pinned one, and one that is new", async () => {
    await using place = await workplace();
    await place.writeCatalog({
      one: small(place, { inheritEnv: ["SMALL_DESCRIPTION", "SMALL_EXTRA"] }),
      plain: small(place),
    });
    const before = { SMALL_DESCRIPTION: "as pinned", SMALL_EXTRA: "old" };
    expect(await pin(place, before)).toMatchObject({ code: 0 });
    {
      await using gate = await connect(serveArgs(place), {
        env: { SMALL_DESCRIPTION: "now it sends mail", SMALL_EXTRA: "fresh" },
      });
      const names = (await gate.client.listTools()).tools.map(({ name }) => name);
      expect(names.filter((name) => name.startsWith("one__"))).toEqual(["one__environment", "one__delete_note"]);
      const changed = await errorOf(gate.client.callTool({ name: "one__echo" }));
      expect(changed).toMatchObject({ code: -31101, data: { reason: "TOOL_CHANGED", server: "one" } });
      expect(changed["message"]).toContain("berth-gateway pin");
      expect(await errorOf(gate.client.callTool({ name: "one__fresh" }))).toMatchObject({
        code: -31101,
        data: { reason: "TOOL_NOT_PINNED" },
      });
    }
    const drift = (await logEntries(place.state)).filter(({ type }) => type === "drift");
    expect(drift).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ server: "one", kind: "tool", name: "echo", change: "changed" }),
      ]),
    );
  });

  it("lets everything through under --observe, and records what it would have refused", async () => {
    await using place = await workplace();
    await place.writeCatalog({ fresh: small(place) });
    {
      await using gate = await connect(serveArgs(place, "--observe"));
      expect(await gate.client.callTool({ name: "fresh__echo", arguments: { text: "x" } })).toEqual(said("x"));
      expect(gate.stderr()).toContain("--observe");
    }
    const entries = await logEntries(place.state);
    expect(entries[0]).toMatchObject({ type: "session.open", observe: true });
    expect(entries.find(({ type }) => type === "spawn")).toMatchObject({
      evidence: "spawn-unmeasured",
      reason: "NOT_PINNED",
      observed: true,
    });
  });

  it("starts servers that are not pinned under allowUnmeasuredSpawn, loudly and as unmeasured", async () => {
    await using place = await workplace();
    await place.writeCatalog({ fresh: small(place) });
    const config = join(place.folder, "gateway.yaml");
    await writeFile(config, "attestation: { allowUnmeasuredSpawn: true }\n");
    {
      await using gate = await connect(serveArgs(place, "--config", config));
      expect(await gate.client.callTool({ name: "fresh__echo", arguments: { text: "x" } })).toEqual(said("x"));
      expect(gate.stderr()).toContain("allowUnmeasuredSpawn is set");
    }
    const entries = await logEntries(place.state);
    expect(entries[0]).toMatchObject({ type: "session.open", allowUnmeasuredSpawn: true });
    expect(entries.find(({ type }) => type === "call.outcome")).toMatchObject({ evidence: "spawn-unmeasured" });
    const status = await gateway(["status", "--state", place.state, "--json"]);
    expect(JSON.parse(status.stdout).logs.at(-1)).toMatchObject({
      allowUnmeasuredSpawn: true,
      unmeasured: ["fresh"],
      closed: true,
    });
  });

  it("refuses a network server clearly and serves the others", async () => {
    await using place = await workplace();
    await place.writeCatalog({
      far: { transport: "streamable-http", url: "https://example.com/mcp", tlsFingerprint: `SHA256:${"k".repeat(43)}` },
      near: small(place),
    });
    await pin(place);
    await using gate = await connect(serveArgs(place));
    const error = await errorOf(gate.client.callTool({ name: "far__anything" }));
    expect(error).toMatchObject({
      code: -31100,
      data: { reason: "UPSTREAM_TRANSPORT_UNSUPPORTED", server: "far" },
      message: expect.stringContaining("stdio"),
    });
    expect(await gate.client.callTool({ name: "near__echo", arguments: { text: "x" } })).toEqual(said("x"));
    expect(gate.stderr()).toContain("this version has no streamable-http");
  });

  it("says everything that is wrong with a catalog, with lines", async () => {
    await using place = await workplace();
    await writeFile(
      place.catalog,
      '{"version":1,\n"servers":{"a":{"transport":"stdio"},\n"b":{"transport":"telnet"}}}',
    );
    const { code, stderr } = await gateway(serveArgs(place));
    expect(code).toBe(2);
    expect(stderr).toContain(`${place.catalog}:2:`);
    expect(stderr).toContain(`${place.catalog}:3:`);
    await place.writeCatalog({});
    expect(await gateway(serveArgs(place))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("holds no servers"),
    });
  });
});
