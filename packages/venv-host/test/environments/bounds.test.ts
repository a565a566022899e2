import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { type ConfinePolicy, isVenvHostError, openEnvironmentStore, type VenvHostError } from "../../src/index.js";
import { makeWheel, makeWorld, preferUv, python, says, type World } from "./world.js";

const installer = preferUv();
const venvTest = partTest("python3", "python3-venv");

async function failure(work: Promise<unknown>): Promise<VenvHostError> {
  const error: unknown = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!isVenvHostError(error)) throw error ?? new Error("nothing failed");
  return error;
}

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

async function expectNothingLeft(world: World): Promise<void> {
  expect(readdirSync(join(world.storePath, "tmp"))).toEqual([]);
  expect(readdirSync(join(world.storePath, "uses"))).toEqual([]);
  expect(readdirSync(join(world.storePath, "environments"))).toEqual([]);
  const store = await world.open();
  const held = await store.acquire({ interpreter: python, requirements: world.requirements });
  expect(says(held.python, ["-c", "import apple; print(apple.told)"])).toBe("apple 1.0");
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

describe("an index with a password", () => {
  venvTest("is asked with it, and shows it nowhere", async () => {
    const world = makeWorld(installer);
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.headers.authorization ?? "");
      response.writeHead(404).end("none of that for s3cret-word");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const store = await world.open({ index: { from: "index", url: `http://me:s3cret-word@127.0.0.1:${port}/simple` } });
    const error = await failure(store.acquire({ interpreter: python, requirements: world.requirements }));
    expect(asked).toContain(`Basic ${Buffer.from("me:s3cret-word").toString("base64")}`);
    const texts = [
      error.message,
      JSON.stringify(error.details),
      JSON.stringify(await store.keyOf({ interpreter: python, requirements: world.requirements })),
    ];
    for (const text of texts) expect(text).not.toContain("s3cret-word");
    expect(spawnSync("grep", ["-r", "s3cret-word", world.storePath]).status, "no file of the store has it").toBe(1);
  });
});

describe("a confined install", () => {
  venvTest("runs what `confine` makes of it, and its evidence names it", async () => {
    const world = makeWorld(installer);
    const policies: ConfinePolicy[] = [];
    let released = 0;
    const store = await world.open({
      confine: async (argv, policy) => {
        policies.push(policy);
        return {
          argv: ["/usr/bin/env", "CONFINED=1", ...argv],
          confinement: "a test",
          release: async () => {
            released += 1;
          },
        };
      },
    });
    const held = await store.acquire({ interpreter: python, requirements: world.requirements });
    expect(held.evidence.confinement).toBe("a test");
    expect(released).toBe(policies.length);
    for (const { network, writable, readable } of policies) {
      expect(network).toBe("none");
      expect(writable).toEqual([expect.stringContaining(join(world.storePath, "tmp", held.key))]);
      expect(readable).toContain(world.wheels);
    }
  });

  venvTest("does not run where it cannot be confined", async () => {
    const world = makeWorld(installer);
    const store = await world.open({ confine: () => Promise.reject(new Error("no bubblewrap here")) });
    const error = await failure(store.acquire({ interpreter: python, requirements: world.requirements }));
    expect(error).toMatchObject({ code: "VENV_BUILD_FAILED", cause: { message: "no bubblewrap here" } });
    await expectNothingLeft(world);
  });
});

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

describe("options", () => {
  it.each<{ name: string; options: object; message: RegExp }>([
    { name: "a relative path", options: { path: "store" }, message: /absolute/ },
    { name: "a path that a shell would read", options: { path: "/tmp/a$b" }, message: /without quotes/ },
    { name: "a name that is not known", options: { path: "/tmp/x", pth: 1 }, message: /no option "pth"/ },
    {
      name: "a limit out of range",
      options: { path: "/tmp/x", limits: { buildTimeoutMs: 1 } },
      message: /1000 to 86400000/,
    },
    {
      name: "an index without TLS",
      options: { path: "/tmp/x", index: { from: "index", url: "http://user:pw@example.org" } },
      message: /must be an https URL/,
    },
    {
      name: "relative folders of wheels",
      options: { path: "/tmp/x", index: { from: "wheels", folders: ["w"] } },
      message: /absolute/,
    },
  ])("are checked: $name", async ({ options, message }) => {
    const given: Parameters<typeof openEnvironmentStore>[0] = { path: "", ...options };
    const error = await failure(openEnvironmentStore(given));
    expect(error.code).toBe("OPTION_INVALID");
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain("pw");
  });

  it("name a folder of another version: refused, and left as it is", async () => {
    const world = makeWorld();
    mkdirSync(world.storePath);
    world.write("store/format", "berth-venv-store 99\n");
    expect((await failure(openEnvironmentStore(world.options))).code).toBe("STORE_UNUSABLE");
    expect(readFileSync(join(world.storePath, "format"), "utf8")).toBe("berth-venv-store 99\n");
    expect(existsSync(join(world.storePath, "environments"))).toBe(false);
  });
});
