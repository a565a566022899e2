import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { claimInstalledEnvironment, findInstalledEnvironment } from "../../src/index.js";

import { emptyHash, makeInstalled, metadata, ofAll, ofClass, sha256 } from "./plugin-folder.js";

describe("a claim", () => {
  it("adds its class to the owners, keeps others, and takes only itself back", async () => {
    const installed = makeInstalled();
    installed.write(ofClass, metadata(installed));
    installed.write("owners.json", JSON.stringify({ owners: ["pii.other.Other"] }));
    const claim = await claimInstalledEnvironment(installed.options);
    expect(installed.read("owners.json")).toEqual({ owners: ["pii.filters.PiiFilter", "pii.other.Other"] });
    await claim.close();
    await claim.close();
    expect(installed.read("owners.json")).toEqual({ owners: ["pii.other.Other"] });
  });

  it("of the last owner removes the file, and a corrupt file counts as empty", async () => {
    const installed = makeInstalled();
    installed.write("owners.json", "{ not json");
    const claim = await claimInstalledEnvironment(installed.options);
    expect(installed.read("owners.json")).toEqual({ owners: ["pii.filters.PiiFilter"] });
    await claim.close();
    expect(existsSync(join(installed.cache, "owners.json"))).toBe(false);
  });

  it("of one class twice lasts until both are closed", async () => {
    const installed = makeInstalled();
    const [one, other] = [
      await claimInstalledEnvironment(installed.options),
      await claimInstalledEnvironment(installed.options),
    ];
    await one.close();
    expect(installed.read("owners.json")).toEqual({ owners: ["pii.filters.PiiFilter"] });
    await other.close();
    expect(existsSync(join(installed.cache, "owners.json"))).toBe(false);
  });

  it("notes for the Rust host what the command line noted, so that neither builds what the other made", async () => {
    const installed = makeInstalled();
    const noted = metadata(installed);
    installed.write(ofAll, noted);
    const claim = await claimInstalledEnvironment(installed.options);
    expect(installed.read(ofClass)).toEqual({
      venv_path: join(installed.home, ".venv"),
      requirements_file: join(installed.home, "requirements.txt"),
      requirements_hash: sha256("cpex\n"),
      manifest_version: "1.2",
      manifest_hash: emptyHash,
      python_version: null,
    });
    expect(readFileSync(join(installed.cache, ofAll), "utf8"), "the command line's own note stays").toBe(noted);
    expect((await findInstalledEnvironment(installed.options)).verdict).toBe("valid");
    await claim.close();
    expect((await findInstalledEnvironment(installed.options)).verdict).toBe("valid");
  });

  it("notes no version where the entry has none, as the Rust host does", async () => {
    const installed = makeInstalled({ version: undefined });
    installed.write(ofAll, metadata(installed, { manifest_version: null }));
    await (await claimInstalledEnvironment(installed.options)).close();
    expect(Object.keys(Object(installed.read(ofClass)))).toEqual([
      "venv_path",
      "requirements_file",
      "requirements_hash",
      "manifest_hash",
      "python_version",
    ]);
  });

  it("of many classes at once loses none of them, also from other processes", async () => {
    const installed = makeInstalled();
    installed.write(ofAll, metadata(installed));
    const program = fileURLToPath(new URL("./programs/claim.mjs", import.meta.url));
    const names = Array.from({ length: 4 }, (_, index) => `pii.many.Class${index}`);
    const hosts = names.map((className) => {
      const argument = JSON.stringify({ ...installed.options, className });
      const child = spawn(process.execPath, [program, argument], { stdio: ["pipe", "pipe", "inherit"] });
      onTestFinished(() => void child.kill("SIGKILL"));
      return child;
    });
    await Promise.all(hosts.map((child) => once(child.stdout, "data", { signal: AbortSignal.timeout(20_000) })));
    expect(installed.read("owners.json")).toEqual({ owners: names });
    const [killed, ...others] = hosts;
    killed?.kill("SIGKILL");
    for (const child of others) child.stdin.end();
    await Promise.all(hosts.map((child) => once(child, "exit", { signal: AbortSignal.timeout(20_000) })));
    // What a killed host claimed stays until its class is claimed and let go again.
    expect(installed.read("owners.json")).toEqual({ owners: [names[0]] });
    await (await claimInstalledEnvironment({ ...installed.options, className: names[0] ?? "" })).close();
    expect(existsSync(join(installed.cache, "owners.json"))).toBe(false);
  });
});
