import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { isWheelName } from "../../src/guest/packages/wheel-faults.js";
import type { ApprovedWheel, DisposableEnvironment } from "../../src/index.js";
import { kinds, openProvider, type ProviderKind, text, workerName } from "./provider-kinds.js";
import { buildWheel, sha256 } from "./wheel.js";

interface Tried {
  readonly environment: DisposableEnvironment;
  /** For files of the host. */
  readonly folder: string;
  readonly name: string;
}

async function withPackages(kind: ProviderKind, run: (tried: Tried) => Promise<void>): Promise<void> {
  await using opened = await openProvider(kind);
  const name = workerName();
  const profile = kind.profile({ packages: "environment" });
  await using environment = await opened.provider.create(name, profile, { deadlineMs: 60_000 });
  await run({ environment, folder: opened.folder, name });
}

describe.each(kinds)("packages in a $name environment", (kind) => {
  const test = partTest(...kind.parts);

  test("are installed from approved wheels alone, into the environment's own folder", () =>
    withPackages(kind, async ({ environment, folder, name }) => {
      const wheels = [buildWheel(folder, "first_part", "1.0"), buildWheel(folder, "other", "2.3.1")];
      const result = await environment.installPackages(wheels);
      expect(result, text(result.stderr)).toMatchObject({ exitCode: 0 });
      const path = join(environment.workspace, ".berth", "packages");
      const told = await environment.run(
        ["python3", "-c", "import first_part, other; print(first_part.told, other.told)"],
        {
          env: { PYTHONPATH: path },
        },
      );
      expect(text(told.stdout)).toBe("first_part 1.0 other 2.3.1\n");
      expect(readdirSync(join(folder, name, "wheels"))).toEqual([]);
    }));

  test("tell the installer's own outcome", () =>
    withPackages(kind, async ({ environment, folder }) => {
      const path = join(folder, "broken-1.0-py3-none-any.whl");
      writeFileSync(path, "no zip");
      const result = await environment.installPackages([{ path, sha256: sha256(path) }]);
      expect(result.exitCode).toBe(1);
      expect(text(result.stderr)).toContain("broken-1.0-py3-none-any.whl");
    }));

  test("are refused when the file is not the one that was approved", () =>
    withPackages(kind, async ({ environment, folder, name }) => {
      const good = buildWheel(folder, "good", "1.0");
      mkdirSync(join(folder, "dir-1.0-py3-none-any.whl"));
      execFileSync("mkfifo", [join(folder, "pipe-1.0-py3-none-any.whl")]);
      writeFileSync(join(folder, "huge-1.0-py3-none-any.whl"), "");
      truncateSync(join(folder, "huge-1.0-py3-none-any.whl"), 256 * 1024 * 1024 + 1);
      cpSync(good.path, join(folder, "copied.whl"));
      symlinkSync("/etc/hosts", join(folder, "link-1.0-py3-none-any.whl"));
      const at = (file: string): ApprovedWheel => ({ path: join(folder, file), sha256: good.sha256 });
      const refusals = [
        [{ ...good, sha256: "0".repeat(64) }],
        [{ ...good, sha256: "short" }],
        [{ ...good, path: "good-1.0-py3-none-any.whl" }],
        [at("absent-1.0-py3-none-any.whl")],
        [at("dir-1.0-py3-none-any.whl")],
        [at("pipe-1.0-py3-none-any.whl")],
        [at("huge-1.0-py3-none-any.whl")],
        [at("link-1.0-py3-none-any.whl")],
        [at("copied.whl")],
        [good, good],
        [],
        Array.from({ length: 65 }, () => good),
      ];
      for (const wheels of refusals) {
        await expect(environment.installPackages(wheels)).rejects.toMatchObject({ code: "WHEEL_REFUSED" });
      }
      expect(readdirSync(join(folder, name, "wheels"))).toEqual([]);
    }));

  test("are refused without the grant", async () => {
    await using opened = await openProvider(kind);
    await using environment = await opened.provider.create(workerName(), kind.profile(), { deadlineMs: 60_000 });
    await expect(environment.installPackages([])).rejects.toMatchObject({ code: "PACKAGES_NOT_GRANTED" });
    await withPackages(kind, async (tried) => {
      const installing = tried.environment.installPackages([], { system: true });
      await expect(installing).rejects.toMatchObject({ code: "PACKAGES_NOT_GRANTED" });
    });
  });
});

describe("a wheel's file name", () => {
  it.each([
    "name-1.0-py3-none-any.whl",
    "a_b.c-1.0.post1+local.2-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    "x-1!2.0-1build-py2.py3-none-any.whl",
  ])("may be %s", (name) => expect(isWheelName(name)).toBe(true));

  it.each([
    "",
    "name.whl",
    "-e-1.0-py3-none-any.whl",
    "--index-url=http:x-1.0-py3-none-any.whl",
    "name-1.0-py3-none-any.zip",
    "name-1.0-py3-none-any.whl ",
    "name-1.0-py3-none.whl",
    "na me-1.0-py3-none-any.whl",
    "näme-1.0-py3-none-any.whl",
    "name-1.0-py3-none-any.whl[extra]",
    `${"n".repeat(300)}-1.0-py3-none-any.whl`,
  ])("may not be %s", (name) => expect(isWheelName(name)).toBe(false));
});
