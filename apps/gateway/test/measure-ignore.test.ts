import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { connect, gateway, small, type Workplace, workplace } from "./gateway.js";

const modules = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const memory = join("@modelcontextprotocol", "server-memory");

/** The real server, in a folder of its own: it writes into its package. */
const installMemory = async (place: Workplace): Promise<string> => {
  const folder = join(place.folder, "node_modules");
  await mkdir(join(folder, dirname(memory)), { recursive: true });
  await cp(join(modules, memory), join(folder, memory), { recursive: true });
  for (const name of [join("@modelcontextprotocol", "sdk"), "zod"])
    await symlink(join(modules, name), join(folder, name));
  return join(folder, memory, "dist", "index.js");
};
const ignore = ["--measure-ignore", "**/memory.jsonl"];
const lineOf = (place: Workplace, script: string, ...options: string[]) => [
  ...["--state", place.state, ...options, "--", process.execPath, script],
];
const remember = async (args: string[], name: string, cwd: string) => {
  await using gate = await connect(args, { cwd });
  const entities = [{ name, entityType: "thing", observations: [] }];
  return await gate.client.callTool({ name: "create_entities", arguments: { entities } });
};
const heldOf = async (place: Workplace) => {
  const { servers } = JSON.parse(await readFile(join(place.state, "run-catalog.json"), "utf8"));
  return Object.values<{ spawn: Record<string, unknown> }>(servers)[0]?.spawn;
};

describe("a server that writes data into its own folder", { timeout: 60_000 }, () => {
  it("starts again and again when run leaves that out, and the entry says so", async () => {
    await using place = await workplace();
    const script = await installMemory(place);
    for (const use of ["first", "second"])
      expect(JSON.stringify(await remember(["run", ...lineOf(place, script, ...ignore)], use, place.folder))).toContain(
        use,
      );
    expect(await readFile(join(dirname(script), "memory.jsonl"), "utf8")).toContain("second");
    expect(await heldOf(place)).toMatchObject({ measureIgnore: ["**/memory.jsonl"] });
  });

  it("is refused without, with advice that names the option, and pin -- with the option accepts it for run", async () => {
    await using place = await workplace();
    const script = await installMemory(place);
    const run = ["run", ...lineOf(place, script)];
    await remember(run, "first", place.folder);
    await expect(remember(run, "second", place.folder)).rejects.toThrow(/leave that out with --measure-ignore GLOB/u);
    const pinned = await gateway(["pin", ...lineOf(place, script, ...ignore, "--yes")], { cwd: place.folder });
    expect(pinned).toMatchObject({ code: 0, stdout: expect.stringContaining("without **/memory.jsonl") });
    // Kept with the pin: the client's line may say it or not.
    for (const line of [run, ["run", ...lineOf(place, script, ...ignore)]])
      expect(JSON.stringify(await remember(line, "third", place.folder))).not.toContain("isError");
    expect(await gateway(["pin", ...lineOf(place, script)], { cwd: place.folder })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("unchanged"),
    });
  });

  it("is not told on the command line when a catalog holds it", async () => {
    await using place = await workplace();
    await place.writeCatalog({ small: small(place) });
    expect(await gateway(["pin", "--catalog", place.catalog, "--state", place.state, ...ignore])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("spawn.measureIgnore"),
    });
  });
});
