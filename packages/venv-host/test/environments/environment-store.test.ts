import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { makeWorld, python, says, uvFolder } from "./world.js";

const installers = [{ installer: "pip" as const }, { installer: "uv" as const }];

describe.each(installers)("an environment that $installer installs", ({ installer }) => {
  const test = installer === "uv" ? partTest("python3", "uv") : partTest("python3", "python3-venv");
  const withTool = async <T>(act: () => Promise<T>): Promise<T> => {
    const path = process.env["PATH"];
    process.env["PATH"] = `${uvFolder}:${path}`;
    try {
      return await act();
    } finally {
      process.env["PATH"] = path;
    }
  };

  test("is built once, found again, and runs at the place where it was published", async () => {
    const world = makeWorld();
    const store = await world.open({ installer });
    const request = { interpreter: python, requirements: world.requirements };
    const steps: string[] = [];
    const first = await withTool(() => store.acquire(request, { onProgress: (step) => steps.push(step) }));
    expect(first).toMatchObject({ origin: "built", reason: undefined });
    expect(steps[0]).toBe("creating the environment");
    expect(steps[1]).toMatch(new RegExp(`^installing with ${installer} \\d`));
    expect(says(first.python, ["-c", "import apple, sys; print(apple.told, sys.prefix)"])).toBe(
      `apple 1.0 ${first.path}`,
    );
    expect(says(join(first.path, "bin", "apple-says"))).toBe("apple 1.0");
    expect(readdirSync(join(first.sitePackages, "apple")).sort()).toEqual(["__init__.py", "__pycache__"]);
    const second = await withTool(() => store.acquire(request));
    expect(second).toMatchObject({ origin: "cached", key: first.key, evidence: first.evidence });
    expect(readdirSync(join(world.storePath, "tmp"))).toEqual([]);
  });

  test("holds no trace of the place where it was built", async () => {
    const world = makeWorld();
    const store = await world.open({ installer });
    const held = await withTool(() => store.acquire({ interpreter: python, requirements: world.requirements }));
    for (const name of readdirSync(join(held.path, "bin"))) {
      if (/^python/.test(name)) continue;
      expect(readFileSync(join(held.path, "bin", name), "latin1"), name).not.toContain(`/tmp/${held.key}`);
    }
    expect(readFileSync(join(held.path, "pyvenv.cfg"), "utf8")).not.toContain(`/tmp/${held.key}`);
  });

  test("shares no file with another one, nor with the installer", async () => {
    const world = makeWorld();
    const store = await world.open({ installer });
    const held = await withTool(() => store.acquire({ interpreter: python, requirements: world.requirements }));
    const files = readdirSync(held.path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(5);
    for (const { name, parentPath } of files) expect(lstatSync(join(parentPath, name)).nlink, name).toBe(1);
  });

  test("has scripts that run also below a path that is long and holds blanks", async () => {
    const world = makeWorld();
    const path = join(world.folder, "a store", "long".repeat(30));
    const store = await world.open({ installer, path });
    const held = await withTool(() => store.acquire({ interpreter: python, requirements: world.requirements }));
    expect(says(join(held.path, "bin", "apple-says"))).toBe("apple 1.0");
    expect(
      await withTool(() => store.acquire({ interpreter: python, requirements: world.requirements })),
    ).toMatchObject({
      origin: "cached",
    });
  });

  test("tells what was installed: names, versions and the digests of their records", async () => {
    const world = makeWorld();
    const store = await world.open({ installer });
    const requirements = world.write("both.txt", "pear\napple\n");
    const { evidence } = await withTool(() => store.acquire({ interpreter: python, requirements }));
    expect(evidence.distributions).toEqual([
      { name: "apple", version: "1.0", recordSha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      { name: "pear", version: "2.0", recordSha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    expect(evidence).toMatchObject({
      confinement: "none",
      installer: expect.stringMatching(new RegExp(`^${installer} \\d`)),
    });
    expect(evidence.interpreter.path).toMatch(/^\/usr\/bin\/python3\.\d+$/);
  });
});
