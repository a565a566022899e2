import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { codesOf, itNamesTests, itPacks, packageOf } from "../../../fixtures/package-promises.js";
import { run } from "./plugin-host.js";

const tested = packageOf(import.meta.url);

describe("the package", { timeout: 120_000 }, () => {
  itPacks(tested, ["dist/main.js"]);
  itNamesTests(tested, 11);

  it("names each code of its errors, each command and each option in its README", async () => {
    const readme = tested.text("README.md");
    for (const code of codesOf(tested, "AppErrorCode")) expect(readme).toContain(`\`${code}\``);
    for (const command of [
      ["invoke"],
      ["serve"],
      ["token"],
      ["venv", "list"],
      ["venv", "build"],
      ["venv", "gc"],
      ["venv", "doctor"],
    ]) {
      const { code, stdout } = await run([...command, "--help"]);
      expect(code).toBe(0);
      expect(readme).toContain(`\`${command.join(" ")}`);
      for (const [option] of stdout.matchAll(/--[a-z][a-z-]+/gu)) {
        if (option !== "--help") expect(readme, `${command.join(" ")} ${option}`).toContain(option);
      }
    }
  });

  it("has a bin that runs from the tarball", () => {
    const place = mkdtempSync(join(tmpdir(), "bph-pack-"));
    onTestFinished(() => rmSync(place, { recursive: true, force: true }));
    execFileSync("npm", ["pack", "--silent", "--pack-destination", place], { cwd: tested.root });
    execFileSync("tar", ["-xzf", `berth-plugin-host-${JSON.parse(tested.text("package.json")).version}.tgz`], {
      cwd: place,
    });
    // What the start needs, and no more.
    mkdirSync(join(place, "package", "node_modules", "@berth"), { recursive: true });
    for (const name of ["@berth/command-line", "@berth/state-folder"])
      symlinkSync(join(tested.root, "../../node_modules", name), join(place, "package", "node_modules", name));
    const bin = join(place, "package", "bin", "berth-plugin-host.js");
    const { status, stdout } = spawnSync(process.execPath, [bin, "--version"], { encoding: "utf8" });
    expect([status, stdout]).toEqual([0, `${JSON.parse(tested.text("package.json")).version}\n`]);
  });
});
