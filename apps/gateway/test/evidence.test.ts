import { hash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { connect, gateway, logEntries, small, type Workplace, workplace } from "./gateway.js";

const common = (place: Workplace) => ["--catalog", place.catalog, "--state", place.state];
const pin = (place: Workplace) => gateway(["pin", ...common(place), "--yes"]);
const serve = (place: Workplace) => connect(["serve", ...common(place), "--stdio"]);

/** Entries of the newest session. */
async function lastSession(place: Workplace): Promise<Record<string, unknown>[]> {
  const entries = await logEntries(place.state);
  const session = entries.findLast(({ type }) => type === "session.open")?.["session"];
  return entries.filter((entry) => entry["session"] === session);
}

describe("the log of a session", () => {
  it("bears the pinned digest at the spawn, at each call that was let through and at the child's end", async () => {
    await using place = await workplace();
    await place.writeCatalog({ one: small(place) });
    expect(await pin(place)).toMatchObject({ code: 0 });
    const { digest } = JSON.parse(await readFile(place.catalog, "utf8")).servers.one.spawn;
    {
      await using gate = await serve(place);
      await gate.client.callTool({ name: "one__echo", arguments: { text: "x" } });
    }
    const entries = (await lastSession(place)).filter((entry) => entry["server"] === "one");
    expect(entries.map(({ type }) => type)).toEqual(["spawn", "call.intent", "call.outcome", "child.exit"]);
    expect(entries.map((entry) => entry["digest"])).toEqual([digest, digest, digest, digest]);
  });

  it("names the catalog that it went by, by the digest of its bytes", async () => {
    await using place = await workplace();
    await place.writeCatalog({ one: small(place) });
    await (await serve(place)).close();
    const text = await readFile(place.catalog);
    expect((await lastSession(place))[0]).toMatchObject({
      type: "session.open",
      catalog: place.catalog,
      catalogDigest: `sha256:${hash("sha256", text, "hex")}`,
    });
  });
});

describe("a call that the catalog does not let through", () => {
  it("is refused and recorded before its server is measured or started", async () => {
    await using place = await workplace();
    await place.writeCatalog({ one: small(place, {}, { tools: { deny: ["delete_note"] } }) });
    expect(await pin(place)).toMatchObject({ code: 0 });
    {
      await using gate = await serve(place);
      await expect(gate.client.callTool({ name: "one__delete_note" })).rejects.toMatchObject({
        code: -31101,
        data: { reason: "TOOL_DENIED", server: "one" },
      });
    }
    const entries = await lastSession(place);
    expect(entries.map(({ type }) => type)).toEqual(["session.open", "call.refused", "session.close"]);
    expect(entries[1]).toMatchObject({
      server: "one",
      tool: "delete_note",
      reason: "TOOL_DENIED",
      code: -31101,
    });
  });
});

describe("the working folder of a server", () => {
  it("is the one that its entry names, else the catalog's, never the gateway's own", async () => {
    await using place = await workplace();
    const text = await readFile(place.server, "utf8");
    await writeFile(place.server, text.replace('Object.keys(process.env).sort().join(",")', "process.cwd()"));
    await mkdir(join(place.folder, "work"));
    await place.writeCatalog({ named: small(place, { cwd: "work" }), unnamed: small(place) });
    expect(await pin(place)).toMatchObject({ code: 0 });
    await using gate = await serve(place);
    const folderOf = async (server: string) =>
      (await gate.client.callTool({ name: `${server}__environment` }))["content"];
    expect(await folderOf("named")).toEqual([{ type: "text", text: join(place.folder, "work") }]);
    expect(await folderOf("unnamed")).toEqual([{ type: "text", text: place.folder }]);
    expect(process.cwd()).not.toContain(place.folder);
  });
});
