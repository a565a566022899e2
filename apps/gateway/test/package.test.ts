import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { workplace } from "./gateway.js";

const folder = fileURLToPath(new URL("../", import.meta.url));
const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

describe("the package", () => {
  it("holds what it lists, and a bin that runs from the tarball", async () => {
    await using place = await workplace();
    execFileSync("npm", ["pack", "--silent", "--pack-destination", place.folder], { cwd: folder });
    const tarball = join(place.folder, `berth-gateway-${manifest.version}.tgz`);
    const files = execFileSync("tar", ["-tzf", tarball], { encoding: "utf8" }).split("\n");
    for (const name of ["bin/berth-gateway.js", "dist/main.js", "README.md", "LICENSE", "package.json"])
      expect(files).toContain(`package/${name}`);
    expect(files.filter((name) => /\/(?:src|test|bench)\//u.test(name))).toEqual([]);
    execFileSync("tar", ["-xzf", tarball, "-C", place.folder]);
    // What the start needs, and no more.
    mkdirSync(join(place.folder, "package", "node_modules", "@berth"), { recursive: true });
    for (const name of ["@berth/command-line", "@berth/state-folder"]) {
      const installed = [join(folder, "node_modules"), join(folder, "../../node_modules")]
        .map((modules) => join(modules, name))
        .find(existsSync);
      symlinkSync(installed ?? "", join(place.folder, "package", "node_modules", name));
    }
    const run = spawnSync(
      process.execPath,
      [join(place.folder, "package", manifest.bin["berth-gateway"]), "--version"],
      { encoding: "utf8" },
    );
    expect(run).toMatchObject({ status: 0, stdout: `${manifest.version}\n` });
  });

  it("names only tests that exist in its README", () => {
    const named = readFileSync(join(folder, "README.md"), "utf8").match(/test\/[a-z-]+\.test\.ts/gu) ?? [];
    expect(named.filter((file) => !existsSync(join(folder, file)))).toEqual([]);
    expect(named.length).toBeGreaterThan(3);
  });
});
