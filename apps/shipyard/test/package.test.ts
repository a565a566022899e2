import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { appFolder, scratchFolder } from "./shipyard.js";

const manifest = JSON.parse(readFileSync(join(appFolder, "package.json"), "utf8"));

it("the package holds what it lists, and a bin that runs from the tarball", () => {
  const place = scratchFolder();
  execFileSync("npm", ["pack", "--silent", "--pack-destination", place], { cwd: appFolder });
  const tarball = join(place, `berth-shipyard-${manifest.version}.tgz`);
  const files = execFileSync("tar", ["-tzf", tarball], { encoding: "utf8" }).split("\n");
  for (const name of ["bin/berth-shipyard.js", "dist/main.js", "README.md", "LICENSE", "package.json"])
    expect(files).toContain(`package/${name}`);
  expect(files.filter((name) => /\/(?:src|test|bench)\//u.test(name))).toEqual([]);
  execFileSync("tar", ["-xzf", tarball, "-C", place]);
  // What the start needs, and no more.
  mkdirSync(join(place, "package", "node_modules", "@berth"), { recursive: true });
  for (const name of ["@berth/command-line", "@berth/state-folder"]) {
    const installed = [join(appFolder, "node_modules"), join(appFolder, "../../node_modules")]
      .map((modules) => join(modules, name))
      .find(existsSync);
    symlinkSync(installed ?? "", join(place, "package", "node_modules", name));
  }
  const bin = join(place, "package", manifest.bin["berth-shipyard"]);
  const run = spawnSync(process.execPath, [bin, "--version"], { encoding: "utf8" });
  expect(run).toMatchObject({ status: 0, stdout: `${manifest.version}\n` });
});
