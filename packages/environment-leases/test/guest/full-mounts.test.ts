import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measureFolder } from "@berth/process-confinement";
import { describe, expect, onTestFinished } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { partTest } from "../../../../fixtures/parts.js";
import { measureMounts } from "../../src/bubblewrap/measure-mounts.js";
import {
  createLeases,
  createMemoryLeaseStore,
  type DisposableEnvironment,
  type LeaseEvent,
  type ManagedProvider,
  type ResourcePolicy,
} from "../../src/index.js";
import { bubblewrap, type OpenedProvider, openProvider, text, unconfined, workerName } from "./provider-kinds.js";

const test = partTest("python3", "bubblewrap");
const mib = 2 ** 20;
const target = "/app/uploads";

/** A provider, and a folder of the host that holds a file of 2 MiB where 1 may be. */
async function fullFolder(): Promise<OpenedProvider & { readonly uploads: string }> {
  const opened = await openProvider(bubblewrap);
  const uploads = join(opened.folder, "uploads");
  mkdirSync(uploads);
  writeFileSync(join(uploads, "large"), new Uint8Array(2 * mib));
  return { ...opened, uploads };
}

function create(
  provider: ManagedProvider,
  source: string,
  policy: ResourcePolicy = {},
): Promise<DisposableEnvironment> {
  const mounts = [{ source, target, writable: true, maxBytes: mib }];
  return provider.create(workerName(), bubblewrap.profile(policy, { mounts }), { deadlineMs: 60_000 });
}

async function python(environment: DisposableEnvironment, code: string): Promise<string> {
  const { stdout, stderr } = await environment.run(["python3", "-c", `import os, subprocess, sys\n${code}`]);
  expect(text(stderr)).toBe("");
  return text(stdout);
}

const attempts = `
def attempt(path, flags, content=b"x"):
    try: os.write(os.open(path, flags), content)
    except OSError as error: return error.strerror
for path in ("${target}/large", "/workspace/new", "/tmp/new", "${target}/new"):
    print(attempt(path, os.O_WRONLY | os.O_APPEND | (os.O_CREAT if "new" in path else 0)))
`;
const refusals = "File too large\nDisk quota exceeded\nDisk quota exceeded\nDisk quota exceeded\n";

/** Tries to win something until it is ended, in as many ways as there are processors. */
const writer = `
for _ in range(3): os.fork()
while True:
    for path in ("large", "new", "folder", "link"):
        for make in (lambda: os.write(os.open(path, os.O_WRONLY | os.O_APPEND), bytes(1 << 20)), lambda: open(path, "wb"),
                     lambda: os.mkdir(path), lambda: os.symlink("x" * 300, path), lambda: os.posix_fallocate(large, 0, 1 << 30)):
            try: make()
            except OSError: pass
`;

describe("a sandbox that starts while a mount holds more than its maxBytes", () => {
  test("reads and removes, and writes nothing anywhere, its children neither; it says so", async () => {
    await using opened = await fullFolder();
    await using environment = await create(opened.provider, opened.uploads);
    expect(environment.restriction).toMatch(
      /^When this sandbox started, \/app\/uploads held 209\d{4} bytes, over its limit of 1048576: files can be read/,
    );
    expect(environment.restriction).not.toContain(opened.folder);
    expect(environment.enforced).toContainEqual({ limit: "fileBytes", value: 0, by: "rlimit" });
    expect(await python(environment, attempts)).toBe(refusals);
    const child = `subprocess.run([sys.executable, "-c", "import os\\n" + ${JSON.stringify(attempts)}])`;
    expect(await python(environment, child)).toBe(refusals);
    expect(await python(environment, `print(len(open("${target}/large", "rb").read()))`)).toBe(`${2 * mib}\n`);
    expect((await environment.run(["rm", `${target}/large`])).exitCode).toBe(0);
    expect(readdirSync(opened.uploads)).toEqual([]);
  });

  test("is an ordinary one again when there is room", async () => {
    await using opened = await fullFolder();
    await using full = await create(opened.provider, opened.uploads);
    await python(full, `os.remove("${target}/large")`);
    await using next = await create(opened.provider, opened.uploads);
    expect(next.restriction).toBeUndefined();
    expect(await python(next, `print(open("${target}/new", "w").write("x"))`)).toBe("1\n");
  });

  test("wins nothing by being started again and again, however fast it writes", async () => {
    await using opened = await fullFolder();
    const before = await measureFolder(opened.uploads, { maxBytes: 2 ** 40 });
    const starts = scaledCount("starts of a writer in a full folder", 400);
    for (let start = 0; start < starts; start++) {
      await using environment = await create(opened.provider, opened.uploads);
      const open = `large = os.open("${target}/large", os.O_RDWR)\nos.chdir("${target}")\nprint("up", flush=True)`;
      const { stream } = await environment.open(["python3", "-c", `import os\n${open}\n${writer}`]);
      expect(text(await firstOf(stream))).toBe("up\n");
      // As long as the watch of an ordinary one may look away.
      const ended = await Promise.race([environment.ended, environment.run(["sleep", "0.3"]).then(() => undefined)]);
      expect(ended).toBeUndefined();
    }
    expect(await measureFolder(opened.uploads, { maxBytes: 2 ** 40 })).toEqual(before);
  });

  test("is ended when others of the same owner, which were started before, go on to write", async () => {
    await using opened = await fullFolder();
    await using environment = await create(opened.provider, opened.uploads);
    writeFileSync(join(opened.uploads, "more"), new Uint8Array(2 * mib));
    expect(await environment.ended).toMatchObject({ reason: "disk" });
  });

  test("reaches no host, where its profile lets it", async () => {
    await using opened = await fullFolder();
    const policy = { network: "allowlist", allowedHosts: ["example.org"] } as const;
    await using environment = await create(opened.provider, opened.uploads, policy);
    expect(environment.restriction).toContain("No host can be reached.");
    expect(await python(environment, `print(os.environ.get("HTTPS_PROXY"))`)).toBe("None\n");
  });

  test("follows the source of a mount as the start does", async () => {
    await using opened = await fullFolder();
    const link = join(opened.folder, "link");
    symlinkSync(opened.uploads, link);
    await using environment = await create(opened.provider, link);
    expect(environment.restriction).toContain(target);
  });

  test("tells it with its lease, and before, while it waits for an owner", async () => {
    await using opened = await fullFolder();
    const mounts = [{ source: opened.uploads, target, writable: true, maxBytes: mib }];
    const events: LeaseEvent[] = [];
    const leases = createLeases({
      store: createMemoryLeaseStore(),
      providers: [opened.provider],
      profiles: { tried: { provider: "bubblewrap", template: "/usr/bin/python3", mounts } },
      record: (event) => void events.push(event),
    });
    try {
      const warm = await leases.warm({ profile: "tried" });
      expect(warm.environment.restriction).toContain(target);
      const lease = await warm.activate({ owner: "ada" });
      expect(lease.restriction).toBe(warm.environment.restriction);
      expect(events).toContainEqual(expect.objectContaining({ kind: "active", restriction: lease.restriction }));
    } finally {
      await leases.close();
    }
  });
});

describe("a sandbox whose mount cannot be cleared from inside", () => {
  const ways = [
    {
      what: "nests too deep",
      fill: (uploads: string) =>
        mkdirSync(join(uploads, ...Array.from({ length: 130 }, () => "d")), { recursive: true }),
      told: "folders are nested deeper than 128",
    },
    {
      what: "is no folder",
      fill: (uploads: string) => writeFileSync(uploads, ""),
      told: "a folder cannot be read (ENOTDIR)",
    },
  ];
  describe.each(ways)("since it $what", ({ fill, told }) => {
    test("is refused before anything runs, by the name that its owner knows", async () => {
      await using opened = await openProvider(bubblewrap);
      const uploads = join(opened.folder, "uploads");
      fill(uploads);
      await expect(create(opened.provider, uploads)).rejects.toMatchObject({
        code: "MOUNT_FULL",
        message: `${target} cannot be cleared from inside: ${told}`,
        cure: expect.stringContaining("the operator has to remove files"),
      });
      expect(await opened.provider.listWorkers()).toEqual([]);
    });
  });

  test("by modes alone is started, and restricted: its owner can set them", async () => {
    const folder = mkdtempSync(join(tmpdir(), "berth-closed-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, "closed"), { mode: 0 });
    const mount = { source: folder, target, writable: true, maxBytes: mib };
    const { writable, restriction } = await asOrdinaryUser(() =>
      measureMounts(bubblewrap.profile({}, { mounts: [mount] })),
    );
    expect(writable).toEqual([{ ...mount, maxBytes: undefined }]);
    expect(restriction).toContain(`${target} could not be measured (a folder cannot be read (EACCES); set its mode)`);
  });

  // An inner file: behind it each step of a start looks at the signal as well.
  test("is measured no longer than its start is wanted", async () => {
    await using opened = await fullFolder();
    const mounts = [{ source: opened.uploads, target, writable: true, maxBytes: mib }];
    const ended = new AbortController();
    const measured = measureMounts(bubblewrap.profile({}, { mounts }), ended.signal);
    ended.abort(new Error("enough"));
    await expect(measured).rejects.toThrow("enough");
  });
});

describe("an unconfined environment", () => {
  partTest("python3")("is refused with a bound of a mount, which nothing would watch", async () => {
    await using opened = await openProvider(unconfined);
    const mounts = [{ source: opened.folder, target: opened.folder, writable: true, maxBytes: mib }];
    const profile = unconfined.profile({}, { mounts });
    await expect(opened.provider.create(workerName(), profile, { deadlineMs: 60_000 })).rejects.toMatchObject({
      code: "ENVIRONMENT_NOT_CREATED",
      cure: expect.stringContaining("leave maxBytes out"),
    });
  });
});

/** Root may read what is closed. */
async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(65_534);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

async function firstOf(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  for await (const chunk of stream) return chunk;
  return new Uint8Array();
}
