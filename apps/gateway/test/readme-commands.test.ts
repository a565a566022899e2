import { execFileSync, spawnSync } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readConfig } from "../src/config-read.js";
import { bin, small, workplace } from "./gateway.js";

const readme = await readFile(fileURLToPath(new URL("../README.md", import.meta.url)), "utf8");

describe("the README", () => {
  it("has commands that do what it says, in its order, typed as they stand", async () => {
    await using place = await workplace();
    const configuration = join(place.folder, ".config", "Claude", "claude_desktop_config.json");
    await mkdir(dirname(configuration), { recursive: true });
    await writeFile(configuration, JSON.stringify({ mcpServers: { files: small(place)["spawn"] } }));
    await symlink(bin, join(place.folder, "berth-gateway"));
    const env = {
      HOME: place.folder,
      PATH: [place.folder, dirname(process.execPath), process.env["PATH"]].join(delimiter),
    };
    const lines = readme.split("\n").flatMap((line) => (line.startsWith("    berth-gateway ") ? [line.trim()] : []));
    const codes = lines.map((line) => {
      // At no terminal nothing can be asked, so what is new needs --yes.
      const command = line.startsWith("berth-gateway pin") ? `${line} --yes` : line;
      const { status } = spawnSync("sh", ["-c", command], { cwd: place.folder, env, input: "", timeout: 60_000 });
      return [line, status];
    });
    expect(codes).toEqual(lines.map((line) => [line, 0]));
    expect(lines.length).toBeGreaterThanOrEqual(6);
    const verified = execFileSync("sh", ["-c", "berth-gateway audit verify"], { cwd: place.folder, env });
    expect(verified.toString()).toContain("verified");
  }, 120_000);

  it("shows a gateway.yaml that is read, with every key", () => {
    const [, yaml = ""] = /```yaml\n([\s\S]*?)```/u.exec(readme) ?? [];
    const reading = readConfig(yaml);
    expect(reading.ok ? [] : reading.problems).toEqual([]);
    const keys = reading.ok ? Object.values(reading.value).flatMap((section) => Object.keys(Object(section))) : [];
    for (const key of ["guard", "durability", "startMs", "listMs", "callMs", "callMaxMs", "maxFrameBytes"])
      expect(keys).toContain(key);
    expect(keys).toContain("maxQueuedBytes");
  });
});
