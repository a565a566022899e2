import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { expectNothingLeft, failure, makeWheel, makeWorld, preferUv, python, says, type World } from "./world.js";

const installer = preferUv();
const venvTest = partTest("python3", "python3-venv");

/** A source distribution whose build runs this Python; gives requirements that name it. */
function sourceThat(world: World, program: string): string {
  const folder = join(world.folder, "acts-1.0");
  mkdirSync(folder);
  world.write(
    "acts-1.0/pyproject.toml",
    '[build-system]\nrequires = []\nbuild-backend = "acts"\nbackend-path = ["."]\n',
  );
  world.write("acts-1.0/acts.py", program);
  execFileSync("tar", ["-czf", join(world.folder, "acts-1.0.tar.gz"), "-C", world.folder, "acts-1.0"]);
  return world.write("acts.txt", "./acts-1.0.tar.gz\n");
}

describe("a build", () => {
  venvTest("that takes too long is ended with all its processes, and says so", async () => {
    const world = makeWorld(installer);
    const store = await world.open({ limits: { buildTimeoutMs: 2_000 } });
    const requirements = sourceThat(world, "import time\ntime.sleep(600)\n");
    const error = await failure(store.acquire({ interpreter: python, requirements }));
    expect(error).toMatchObject({
      code: "VENV_BUILD_FAILED",
      message: "the build did not end within 2000 ms",
      details: { timeoutMs: 2_000 },
    });
    await expectNothingLeft(world);
  });

  venvTest("that fills the disk is ended at its limit", async () => {
    const world = makeWorld(installer);
    const store = await world.open({ limits: { maxEnvironmentBytes: 20_000_000 } });
    const requirements = sourceThat(
      world,
      'import time\nwith open("big", "wb") as big:\n  while True:\n    big.write(b"x" * 1_000_000)\n    big.flush()\n    time.sleep(0.01)\n',
    );
    const error = await failure(store.acquire({ interpreter: python, requirements }));
    expect(error).toMatchObject({ code: "VENV_BUILD_FAILED", details: { limitBytes: 60_000_000 } });
    await expectNothingLeft(world);
  });

  venvTest("whose result is over the limit fails too, however fast it was", async () => {
    const world = makeWorld(installer);
    makeWheel(world.wheels, "large", "1.0", { "large/data.txt": "x".repeat(3_000_000) });
    const store = await world.open({ limits: { maxEnvironmentBytes: 2_900_000 } });
    const requirements = world.write("large.txt", "large\n");
    const error = await failure(store.acquire({ interpreter: python, requirements }));
    expect(error.message).toMatch(/^the (environment|build) takes more than [28][79]00000 bytes$/);
    await expectNothingLeft(world);
  });

  venvTest("that says too much keeps the end of it, and its exit code", async () => {
    const world = makeWorld(installer);
    const store = await world.open({ limits: { maxOutputBytes: 4_096 } });
    const requirements = sourceThat(world, 'import sys\nsys.stderr.write("ä" * 300_000)\nsys.exit("the last word")\n');
    const error = await failure(store.acquire({ interpreter: python, requirements }));
    expect(error).toMatchObject({
      code: "VENV_BUILD_FAILED",
      details: { step: "install", exitCode: expect.any(Number), isStderrTruncated: true },
    });
    expect(Buffer.byteLength(error.details.stderrExcerpt ?? "")).toBeLessThanOrEqual(4_096);
    expect(error.details.stderrExcerpt).not.toContain("\ufffd");
    await expectNothingLeft(world);
  });

  venvTest("of what there is not fails with the installer's words", async () => {
    const world = makeWorld(installer);
    const store = await world.open();
    const error = await failure(
      store.acquire({ interpreter: python, requirements: world.write("no.txt", "no-such-fruit\n") }),
    );
    expect(error).toMatchObject({ code: "VENV_BUILD_FAILED", details: { step: "install" } });
    expect(error.details.stderrExcerpt).toContain("no-such-fruit");
    await expectNothingLeft(world);
  });

  venvTest("that nobody waits for any more ends at once, with the reason of the signal", async () => {
    const world = makeWorld(installer);
    const store = await world.open();
    const requirements = sourceThat(world, "import time\ntime.sleep(600)\n");
    const ending = new AbortController();
    const reason = new Error("no longer wanted");
    const onProgress = (step: string): void => {
      if (step.startsWith("installing")) ending.abort(reason);
    };
    await expect(
      store.acquire({ interpreter: python, requirements }, { signal: ending.signal, onProgress }),
    ).rejects.toBe(reason);
    await expectNothingLeft(world);
  });

  venvTest("ends with its store, which then refuses", async () => {
    const world = makeWorld(installer);
    const store = await world.open();
    const requirements = sourceThat(world, "import time\ntime.sleep(600)\n");
    let closed: Promise<void> | undefined;
    const onProgress = (step: string): void => {
      if (step.startsWith("installing")) closed ??= store.close();
    };
    const error = await failure(store.acquire({ interpreter: python, requirements }, { onProgress }));
    expect(error.code).toBe("STORE_CLOSED");
    await closed;
    expect((await failure(store.acquire({ interpreter: python }))).code).toBe("STORE_CLOSED");
    await expectNothingLeft(world);
  });

  venvTest("of nothing gives an empty environment", async () => {
    const world = makeWorld(installer);
    const store = await world.open();
    const held = await store.acquire({ interpreter: python });
    expect(held.evidence).toMatchObject({ installer: "none", distributions: [] });
    expect(says(held.python, ["-c", "import sys; print(sys.prefix)"])).toBe(held.path);
  });
});
