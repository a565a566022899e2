import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { expectNothingLeft, makeWorld, preferUv, python, type World } from "./world.js";

const installer = preferUv();
const venvTest = partTest("python3", "python3-venv");

/** Where / is no mount point, as in a bare chroot, unshare cannot make it private, and there is no need to. */
const propagation = spawnSync("unshare", ["--mount", "true"]).status === 0 ? "" : "--propagation unchanged";
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The program of `programs/` in mounts of its own. */
function acquireUnder(world: World, shell: string): { readonly code: number | null; readonly out: string } {
  const job = JSON.stringify({
    options: world.options,
    requests: [{ interpreter: python, requirements: world.requirements }],
  });
  const program = new URL("./programs/acquire.mjs", import.meta.url).pathname;
  const node = `${quoted(process.execPath)} ${quoted(program)} ${quoted(job)}`;
  const { status, stdout } = spawnSync(
    "sh",
    ["-c", `unshare --mount ${propagation} sh -c ${quoted(`${shell} && exec ${node}`)}`],
    {
      encoding: "utf8",
      timeout: 60_000,
    },
  );
  return { code: status, out: stdout };
}

describe("a disk", () => {
  partTest(
    "python3",
    "python3-venv",
    "ordinary-user",
    "util-linux",
  )(
    "that is full is a clear error, and a build with room is good",
    () => {
      const world = makeWorld(installer);
      mkdirSync(world.storePath);
      const store = quoted(world.storePath);
      const full = acquireUnder(world, `mount -t tmpfs -o size=64k tmpfs ${store}`);
      expect(JSON.parse(full.out)).toMatchObject({
        code: expect.stringMatching(/^(STORE_UNUSABLE|VENV_BUILD_FAILED)$/),
      });
      expect(full.out).toMatch(/ENOSPC|No space left/i);
      for (const size of ["200k", "300k", "500k"]) {
        const small = acquireUnder(world, `mount -t tmpfs -o size=${size} tmpfs ${store}`);
        expect(JSON.parse(small.out), size).toHaveProperty(small.code === 0 ? "python" : "code");
      }
      const roomy = acquireUnder(world, `mount -t tmpfs -o size=200m tmpfs ${store}`);
      expect(JSON.parse(roomy.out)).toMatchObject({ origin: "built" });
    },
    60_000,
  );

  partTest(
    "python3",
    "python3-venv",
    "ordinary-user",
    "util-linux",
  )("that cannot be written gives what is there, and says what it cannot make", async () => {
    const world = makeWorld(installer);
    const store = await world.open();
    const held = await store.acquire({ interpreter: python, requirements: world.requirements });
    await store.close();
    const readOnly = `mount --bind ${quoted(world.storePath)} ${quoted(world.storePath)} && mount -o remount,ro,bind ${quoted(world.storePath)}`;
    const cached = acquireUnder(world, readOnly);
    expect(JSON.parse(cached.out)).toMatchObject({ origin: "cached", key: held.key });
    world.write("requirements.txt", "pear\n");
    const refused = acquireUnder(world, readOnly);
    expect(JSON.parse(refused.out)).toMatchObject({
      code: "STORE_UNUSABLE",
      message: expect.stringContaining("EROFS"),
    });
  });

  partTest("python3", "ordinary-user")("that this user may not write is a clear error", () => {
    const world = makeWorld(installer);
    mkdirSync(world.storePath, { mode: 0o755 });
    chmodSync(world.folder, 0o755);
    const program = new URL("./programs/acquire.mjs", import.meta.url).pathname;
    const job = JSON.stringify({ options: world.options, requests: [{ interpreter: python }] });
    const run = spawnSync("setpriv", ["--reuid", "65534", "--clear-groups", process.execPath, program, job], {
      encoding: "utf8",
    });
    expect(JSON.parse(run.stdout)).toMatchObject({ code: "STORE_UNUSABLE", details: { cure: expect.any(String) } });
  });

  venvTest("whose files may not grow (a limit of the process) is a clear error", async () => {
    const world = makeWorld(installer);
    const job = JSON.stringify({
      options: world.options,
      requests: [{ interpreter: python, requirements: world.requirements }],
    });
    const program = new URL("./programs/acquire.mjs", import.meta.url).pathname;
    const run = spawnSync("sh", ["-c", 'ulimit -f 2; exec "$@"', "sh", process.execPath, program, job], {
      encoding: "utf8",
    });
    expect(JSON.parse(run.stdout)).toMatchObject({
      code: expect.stringMatching(/^(STORE_UNUSABLE|VENV_BUILD_FAILED)$/),
    });
    await expectNothingLeft(world);
  });
});
