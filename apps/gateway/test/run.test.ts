import { spawnSync } from "node:child_process";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bin, connect, gateway, logEntries, type Workplace, workplace } from "./gateway.js";

const runArgs = (place: Workplace, ...options: string[]) => [
  "run",
  "--state",
  place.state,
  ...options,
  "--",
  process.execPath,
  place.server,
];
const said = (text: string) => ({ content: [{ type: "text", text }] });
const change = async (place: Workplace, from: string, to: string) => {
  await writeFile(place.server, (await readFile(place.server, "utf8")).replace(from, to));
};
const pinLine = (stderr: string) => /run: (cd .+? && berth-gateway pin .+?)(?:"|\n|$)/u.exec(stderr)?.[1] ?? "";

describe("berth-gateway run", { timeout: 60_000 }, () => {
  it("pins at first use, recorded as such, and lets the same server through afterwards under its own names", async () => {
    await using place = await workplace();
    for (const use of ["first", "second"]) {
      await using gate = await connect(runArgs(place), { cwd: place.folder });
      expect((await gate.client.listTools()).tools.map(({ name }) => name)).toEqual([
        "echo",
        "environment",
        "delete_note",
      ]);
      expect(await gate.client.callTool({ name: "echo", arguments: { text: use } })).toEqual(said(use));
      expect(gate.client.getServerVersion()).toEqual({ name: "small", version: "1.0.0" });
      expect(gate.client.getInstructions()).toBe("Say it once.");
    }
    const catalog = JSON.parse(await readFile(join(place.state, "run-catalog.json"), "utf8"));
    const [name = ""] = Object.keys(catalog.servers);
    const server = catalog.servers[name];
    expect(name).toMatch(/^small-server-[0-9a-f]{12}$/u);
    expect(server).toMatchObject({
      spawn: {
        command: process.execPath,
        args: [place.server],
        cwd: place.folder,
        digest: expect.stringMatching(/^tree-v1:/u),
      },
    });
    expect((await stat(join(place.state, "run-catalog.json"))).mode & 0o777).toBe(0o600);
    const spawns = (await logEntries(place.state)).filter(({ type }) => type === "spawn");
    expect(spawns.map((entry) => entry["firstUse"])).toEqual([true, true, undefined]);
    expect(spawns.every((entry) => entry["evidence"] === "spawn-measured")).toBe(true);
  });

  it("refuses a changed server with the line that accepts it, and that line works", async () => {
    await using place = await workplace();
    await (await connect(runArgs(place), { cwd: place.folder })).close();
    await change(place, '"small"', '"smalL"');
    const refused = await gateway(runArgs(place), {
      cwd: place.folder,
      inputUntil: '"id":2',
      input: `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } } })}\n${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "echo", arguments: {} } })}\n`,
    });
    expect(refused.code).toBe(3);
    const answer = refused.stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line))
      .find(({ id }) => id === 2);
    expect(answer.error).toMatchObject({
      code: -31100,
      data: { reason: "DIGEST_MISMATCH", expected: expect.any(String), measured: expect.any(String) },
    });
    const line = pinLine(answer.error.message);
    expect(line).toContain(`pin --state ${place.state} -- ${process.execPath} ${place.server}`);
    // As a person would run it, from anywhere.
    const shown = line.replace("berth-gateway pin", `${process.execPath} ${bin} pin`);
    expect(spawnSync("sh", ["-c", shown], { cwd: "/", encoding: "utf8" })).toMatchObject({
      status: 3,
      stdout: expect.stringContaining("changed"),
    });
    expect(spawnSync("sh", ["-c", shown.replace(" pin ", " pin --yes ")], { cwd: "/" }).status).toBe(0);
    await using gate = await connect(runArgs(place), { cwd: place.folder });
    expect(gate.client.getServerVersion()).toMatchObject({ name: "smalL" });
  });

  it("shows what would change with pin, also before the first use", async () => {
    await using place = await workplace();
    const pin = (...args: string[]) =>
      gateway(["pin", "--state", place.state, ...args, "--", process.execPath, place.server], { cwd: place.folder });
    const first = await pin();
    expect(first).toMatchObject({ code: 3, stdout: expect.stringMatching(/small-server-\w+: new/u) });
    expect((await pin("--yes")).code).toBe(0);
    await change(place, "says it again", "says it thrice");
    const changed = await pin("--json");
    expect(changed.code).toBe(3);
    const [result] = Object.values<Record<string, unknown>>(JSON.parse(changed.stdout).servers);
    expect(result).toMatchObject({
      status: "changed",
      changes: expect.arrayContaining([expect.stringContaining("says it thrice")]),
    });
  });

  it("takes other arguments and another folder for a new first use", async () => {
    await using place = await workplace();
    await (await connect(runArgs(place), { cwd: place.folder })).close();
    await change(place, '"small"', '"smalL"');
    await (await connect([...runArgs(place), "--other"], { cwd: place.folder })).close();
    await (await connect(runArgs(place), { cwd: join(place.folder, "small") })).close();
    const catalog = JSON.parse(await readFile(join(place.state, "run-catalog.json"), "utf8"));
    expect(Object.keys(catalog.servers)).toHaveLength(3);
  });

  it("lets a changed server through under --observe, and records why it would have refused it", async () => {
    await using place = await workplace();
    await (await connect(runArgs(place), { cwd: place.folder })).close();
    await change(place, '"small"', '"smalL"');
    {
      await using gate = await connect(runArgs(place, "--observe"), { cwd: place.folder });
      expect(await gate.client.callTool({ name: "echo", arguments: { text: "x" } })).toEqual(said("x"));
    }
    const spawn = (await logEntries(place.state)).findLast(({ type }) => type === "spawn");
    expect(spawn).toMatchObject({ evidence: "spawn-unmeasured", reason: "DIGEST_MISMATCH", observed: true });
  });

  it("refuses what cannot be measured, at once and with advice, and ends with 3", async () => {
    await using place = await workplace();
    const args = ["run", "--state", place.state, "--", "npx", "-y", "some-server"];
    await expect(connect(args, { cwd: place.folder })).rejects.toThrow(/LAUNCHER_WITHOUT_TARGET|npx/u);
    const entries = await logEntries(place.state);
    expect(entries.map(({ type }) => type)).toContain("spawn.refused");
    expect(await gateway(["audit", "verify", "--state", place.state])).toMatchObject({ code: 0 });
  });

  it("lets through under --observe what cannot be measured at all, as unmeasured", async () => {
    await using place = await workplace();
    const line = ["sh", "-c", `exec ${process.execPath} ${place.server}`];
    {
      await using gate = await connect(["run", "--observe", "--state", place.state, "--", ...line], {
        cwd: place.folder,
      });
      expect(await gate.client.callTool({ name: "echo", arguments: { text: "x" } })).toEqual(said("x"));
    }
    const entries = await logEntries(place.state);
    expect(entries.filter(({ type }) => type === "spawn")).toMatchObject([
      { evidence: "spawn-unmeasured", reason: "CODE_ON_COMMAND_LINE", observed: true },
    ]);
    expect(entries.map(({ type }) => type)).not.toContain("spawn.refused");
  });

  it("ends with 1 when its server cannot be started, and says why", async () => {
    await using place = await workplace();
    await writeFile(place.server, "process.exit(3)");
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    };
    const input = `${JSON.stringify(initialize)}\n`;
    const { code, stdout } = await gateway(runArgs(place), { cwd: place.folder, input, inputUntil: '"id":1' });
    expect(code).toBe(1);
    expect(JSON.parse(stdout).error).toMatchObject({ code: -31102, message: expect.stringContaining("exit code 3") });
  });

  it("ends with 3 when there is nothing to measure, and says why, also when the client is gone at once", async () => {
    await using place = await workplace();
    const args = ["run", "--state", place.state, "--", process.execPath, join(place.folder, "absent.mjs")];
    const { code, stderr } = await gateway(args, { cwd: place.folder });
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringMatching(/the first use failed: .*absent\.mjs/u),
    });
    expect(stderr).not.toContain("pinned at its first use");
  });

  it("gives up a first use when the client goes away, and leaves nothing", async () => {
    await using place = await workplace();
    await writeFile(place.server, "setInterval(() => {}, 1000)");
    const finished = await gateway(runArgs(place), { cwd: place.folder });
    expect(finished.code).toBe(0);
    expect(finished.stderr).toContain("nothing is pinned");
    expect(finished.stderr).not.toContain("pinned at its first use");
    expect((await logEntries(place.state)).at(-1)).toMatchObject({ type: "session.close", reason: "CLIENT_CLOSED" });
  });

  it("passes the variables that --env names, and only those", async () => {
    await using place = await workplace();
    const env = { GIVEN: "1", NOT_GIVEN: "2" };
    await using gate = await connect(runArgs(place, "--env", "GIVEN"), { cwd: place.folder, env });
    const names = JSON.stringify(await gate.client.callTool({ name: "environment" }));
    expect(names).toContain("GIVEN,HOME");
    expect(names).not.toContain("NOT_GIVEN");
    const missing = await gateway(runArgs(place, "--env", "MISSING_ONE"), { cwd: place.folder });
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("MISSING_ONE") });
  });
});
