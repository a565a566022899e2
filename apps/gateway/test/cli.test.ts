import { execFileSync, spawnSync } from "node:child_process";
import { cp, mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bin, gateway, workplace } from "./gateway.js";

const commands = [
  ["run"],
  ["pin"],
  ["import"],
  ["serve"],
  ["plugins"],
  ["status"],
  ["audit", "verify"],
  ["audit", "tail"],
  ["doctor"],
];

describe("the command line", { timeout: 60_000 }, () => {
  it("prints the version that is published", async () => {
    const manifest = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
    expect(await gateway(["--version"])).toMatchObject({ code: 0, stdout: `${manifest.version}\n`, stderr: "" });
  });

  it.each(commands.map((command) => [command.join(" "), command] as const))(
    "helps with %s, by example",
    async (name, command) => {
      const { code, stdout } = await gateway([...command, "--help"]);
      expect(code).toBe(0);
      expect(stdout).toContain(`Examples:\n  $ berth-gateway ${name}`);
    },
  );

  it.each([
    ["an unknown command", ["frobnicate"], "unknown command"],
    ["an unknown option", ["serve", "--catalog", "x", "--frob"], "unknown option"],
    ["serve without a catalog", ["serve", "--stdio"], "--catalog"],
    ["serve without a way", ["serve", "--catalog", "x"], "--stdio"],
    ["run without a command", ["run"], "command"],
    ["pin without anything", ["pin"], "say what to pin"],
    ["pin with both", ["pin", "--catalog", "x", "--", "node"], "say what to pin"],
    ["a catalog that is absent", ["serve", "--catalog", "/nowhere/c.json", "--stdio"], "ENOENT"],
    [
      "a configuration that is absent",
      ["serve", "--catalog", "c", "--config", "/nowhere/g.yaml", "--stdio"],
      "cannot be read",
    ],
    ["a state folder that is absent", ["audit", "verify", "--state", "/nowhere/state"], "no state folder"],
    ["a catalog without end", ["serve", "--catalog", "/dev/zero", "--stdio"], "has to be a regular file"],
    ["a configuration without end", ["run", "--config", "/dev/zero", "--", "x"], "has to be a regular file"],
    ["a client configuration without end", ["import", "/dev/zero"], "has to be a regular file"],
    ["plugins without a configuration", ["plugins"], "--config"],
    ["a number of lines that is none", ["audit", "tail", "-n", "many"], "--lines must be"],
  ])("ends with 2 for %s, on stderr, without a stack", async (_name, args, message) => {
    const { code, stdout, stderr } = await gateway(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("    at ");
  });

  it("ends with 2 for files over their limits, and for pipes, whose opening would wait for who writes", async () => {
    await using place = await workplace();
    const [large, pipe] = [join(place.folder, "large"), join(place.folder, "pipe")];
    await writeFile(large, "");
    await truncate(large, 17_000_000);
    execFileSync("mkfifo", [pipe]);
    for (const [path, catalogSays, configSays] of [
      [large, "has more than 16777216 bytes", "has more than 1048576 bytes"],
      [pipe, "has to be a regular file", "has to be a regular file"],
    ] as const) {
      const catalog = await gateway(["serve", "--catalog", path, "--stdio"]);
      expect(catalog).toMatchObject({ code: 2, stderr: expect.stringContaining(catalogSays) });
      const config = await gateway(["run", "--config", path, "--", "x"]);
      expect(config).toMatchObject({ code: 2, stderr: expect.stringContaining(configSays) });
    }
  });

  it("says that it is not built, in one line", async () => {
    await using place = await workplace();
    await mkdir(join(place.folder, "app", "bin"), { recursive: true });
    await cp(bin, join(place.folder, "app", "bin", "berth-gateway.mjs"));
    const { status, stderr } = spawnSync(process.execPath, [join(place.folder, "app", "bin", "berth-gateway.mjs")], {
      encoding: "utf8",
    });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: "berth-gateway is not built: run `npm run build` first\n",
    });
  });
});
