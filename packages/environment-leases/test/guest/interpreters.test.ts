import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { type PartName, partTest } from "../../../../fixtures/parts.js";
import { kinds, openProvider, text, workerName } from "./provider-kinds.js";
import { buildWheel } from "./wheel.js";

const versions: readonly { readonly command: string; readonly part: PartName }[] = [
  { command: "python3", part: "python3" },
  { command: "python3.10", part: "python3.10" },
  { command: "python3.12", part: "python3.12" },
  { command: "python3.13", part: "python3.13" },
];

function executableOf(command: string): string {
  return spawnSync(command, ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).stdout.trim();
}

const version = "import sys; print(*sys.version_info[:3]); print(sys.prefix)";

describe.each(kinds)("a $name environment", (kind) => {
  for (const { command, part } of versions) {
    partTest(...kind.parts, part)(`runs its agent and its commands with ${command}, wherever that lies`, async () => {
      await using opened = await openProvider(kind);
      const template = executableOf(command);
      const profile = kind.profile({}, { template, shell: true });
      await using environment = await opened.provider.create(workerName(), profile, { deadlineMs: 60_000 });
      const inside = await environment.run([environment.interpreter, "-c", version]);
      expect(text(inside.stdout)).toBe(spawnSync(template, ["-c", version], { encoding: "utf8" }).stdout);
      expect(await environment.run(["sh", "-c", "cat; exit 7"], { stdin: Buffer.from("x") })).toMatchObject({
        exitCode: 7,
        stdoutBytes: 1,
      });
      await expect(environment.run(["/no/such"])).rejects.toMatchObject({ code: "COMMAND_NOT_STARTED" });
      await environment.installShell();
      await using terminal = await environment.openTerminal();
      expect((await terminal.read({ signal: AbortSignal.timeout(20_000) })).length).toBeGreaterThan(0);
    });
  }

  partTest(...kind.parts, "python3-venv")("knows the packages of a virtual environment", async () => {
    await using opened = await openProvider(kind);
    const home = join(opened.folder, "venv");
    mkdirSync(home);
    spawnSync("/usr/bin/python3", ["-m", "venv", "--without-pip", home]);
    const profile = kind.profile({ packages: "environment" }, { template: join(home, "bin", "python") });
    await using environment = await opened.provider.create(workerName(), profile, { deadlineMs: 60_000 });
    const inside = await environment.run([
      "python",
      "-c",
      "import sys; print(sys.prefix, sys.prefix != sys.base_prefix)",
    ]);
    expect(text(inside.stdout)).toBe(`${home} True\n`);
    const installing = environment.installPackages([buildWheel(opened.folder, "a", "1")]);
    await expect(installing).rejects.toMatchObject({
      code: "COMMAND_NOT_STARTED",
      cure: expect.stringContaining("ensurepip"),
    });
  });
});
