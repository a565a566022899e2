import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { connect, gateway, small, workplace } from "./gateway.js";

describe("many gateways on one state folder", () => {
  it("ten runs and two serves started at once all work, and all logs verify", async () => {
    await using place = await workplace();
    const server = small(place);
    await place.writeCatalog({ one: server });
    await gateway(["pin", "--catalog", place.catalog, "--state", place.state, "--yes"]);
    const run = ["run", "--state", place.state, "--", process.execPath, place.server];
    const serve = ["serve", "--catalog", place.catalog, "--state", place.state, "--stdio"];
    const starts = [
      ...Array.from({ length: 10 }, () => ({ args: run, tool: "echo" })),
      ...Array.from({ length: 2 }, () => ({ args: serve, tool: "one__echo" })),
    ];
    const answers = await Promise.all(
      starts.map(async ({ args, tool }, index) => {
        await using gate = await connect(args, { cwd: place.folder });
        return await gate.client.callTool({ name: tool, arguments: { text: String(index) } });
      }),
    );
    expect(answers).toEqual(starts.map((_, index) => ({ content: [{ type: "text", text: String(index) }] })));
    const catalog = JSON.parse(await readFile(join(place.state, "run-catalog.json"), "utf8"));
    expect(Object.keys(catalog.servers)).toHaveLength(1);
    const { code, stdout } = await gateway(["audit", "verify", "--state", place.state, "--strict", "--json"]);
    const report = JSON.parse(stdout);
    expect({ code, ok: report.ok, problems: report.problems }).toEqual({ code: 0, ok: true, problems: [] });
    expect(report.logs).toHaveLength(13);
    expect(report.notices).toEqual([]);
  }, 120_000);
});
