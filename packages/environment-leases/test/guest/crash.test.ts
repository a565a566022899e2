import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, vi } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { partTest } from "../../../../fixtures/parts.js";
import { bubblewrap, kinds, openProvider } from "./provider-kinds.js";

const program = fileURLToPath(new URL("./programs/host.mjs", import.meta.url));

/** Numbers of the processes that see the folder mounted, or have it in their environment or command line. */
function processesOf(folder: string): readonly number[] {
  const reads = (pid: string, file: string): string => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, "latin1");
    } catch {
      return ""; // it has ended
    }
  };
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .filter((pid) => ["mountinfo", "environ", "cmdline"].some((file) => reads(pid, file).includes(folder)))
    .map(Number);
}

interface RunningHost extends AsyncDisposable {
  readonly child: ChildProcess;
  /** The next line that it prints. */
  line(): Promise<string>;
}

async function startHost(kind: string, folder: string, count: number): Promise<RunningHost> {
  const child = spawn(process.execPath, [program, kind, folder, String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.stdout === null) throw new Error("no stdout");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => String((await lines.next()).value);
  expect(await line()).toBe("ready");
  return {
    child,
    line,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

describe.each(kinds)("after a host of $name environments was killed", (kind) => {
  const test = partTest(...kind.parts);

  test("nothing of them runs on, and the next host finds and removes what is left of them", async () => {
    await using opened = await openProvider(kind);
    await using host = await startHost(kind.name, opened.folder, 1);
    const worker = await host.line();
    expect(await opened.provider.exists(worker)).toBe("yes");
    expect(await opened.provider.listWorkers()).toEqual([worker]);
    host.child.kill("SIGKILL");
    await once(host.child, "exit");
    await opened.provider.destroy(worker);
    expect(await opened.provider.exists(worker)).toBe("no");
    expect(await opened.provider.listWorkers()).toEqual([]);
    expect(processesOf(opened.folder)).toEqual([]);
  });

  test("a living one is ended by who destroys it", async () => {
    await using opened = await openProvider(kind);
    await using host = await startHost(kind.name, opened.folder, 1);
    const worker = await host.line();
    await Promise.all([opened.provider.destroy(worker), opened.provider.destroy(worker)]);
    expect(await opened.provider.exists(worker)).toBe("no");
    // Its own host noticed, and went on with another one.
    expect(await host.line()).not.toBe(worker);
  });

  test("at any moment of their life, nothing is left once the next host has destroyed what is listed", async () => {
    const rounds = scaledCount(`hosts of ${kind.name} environments killed`, 200);
    await using opened = await openProvider(kind);
    for (let round = 0; round < rounds; round += 1) {
      await using host = await startHost(kind.name, opened.folder, 3);
      // Spread over the time that a start takes, at a fresh place each time.
      await new Promise((resolve) => setTimeout(resolve, (round * 37) % 120));
      host.child.kill("SIGKILL");
      await once(host.child, "exit");
      const listed = await opened.provider.listWorkers();
      await Promise.all(listed.map((worker) => opened.provider.destroy(worker)));
      expect(await opened.provider.listWorkers()).toEqual([]);
      // One that compiles the agent sees the end of its host a moment later.
      await vi.waitFor(() => expect(processesOf(opened.folder)).toEqual([]), { timeout: 5_000, interval: 5 });
    }
    expect(readdirSync(opened.folder)).toEqual(["guest"]);
  }, 600_000);
});

const damagedRecords: readonly { readonly name: string; readonly make: (path: string) => void }[] = [
  { name: "with other members", make: (path) => writeFileSync(path, '{"name":1}') },
  { name: "that is no JSON", make: (path) => writeFileSync(path, "{") },
  { name: "that is a named pipe", make: (path) => void execFileSync("mkfifo", [path]) },
  { name: "that leads to an endless file", make: (path) => symlinkSync("/dev/zero", path) },
  { name: "that is a folder", make: (path) => mkdirSync(path) },
  {
    name: "of many gigabytes",
    make: (path) => {
      writeFileSync(path, "");
      truncateSync(path, 2 ** 34);
    },
  },
  {
    name: "with a control group that is not its own",
    make: (path) => {
      const mark = { pid: process.pid, startTime: 1 };
      const numbers = { outer: mark, init: mark, hostPidNamespace: 1, pidNamespace: 2 };
      writeFileSync(path, JSON.stringify({ name: "x", bootId: "b", ...numbers, controlGroups: ["/sys/fs/cgroup"] }));
    },
  },
];

describe("the folder of a provider", () => {
  const test = partTest("bubblewrap", "python3");
  const worker = `mcp-${"a".repeat(24)}`;

  for (const { name, make } of damagedRecords) {
    test(`with a worker's record ${name} is soon answered, and not said to be empty`, async () => {
      await using opened = await openProvider(bubblewrap);
      mkdirSync(`${opened.folder}/${worker}`);
      expect(await opened.provider.exists(worker)).toBe("no");
      make(`${opened.folder}/${worker}/identity.json`);
      expect(await opened.provider.exists(worker)).toBe("unknown");
      await expect(opened.provider.destroy(worker)).rejects.toMatchObject({ code: "CLEANUP_UNCONFIRMED" });
      expect(existsSync(`${opened.folder}/${worker}`)).toBe(true);
    }, 5_000);
  }

  const remains: readonly { readonly name: string; readonly make: (path: string) => void }[] = [
    { name: "a folder whose record a crash of the machine emptied", make: makeEmptied },
    { name: "a file", make: (path) => writeFileSync(path, "") },
    { name: "a link to nothing", make: (path) => symlinkSync("/nonexistent", path) },
  ];
  for (const { name, make } of remains) {
    test(`is rid of ${name} when what is listed is destroyed`, async () => {
      await using opened = await openProvider(bubblewrap);
      make(`${opened.folder}/${worker}`);
      expect(await opened.provider.listWorkers()).toEqual([worker]);
      await opened.provider.destroy(worker);
      expect(await opened.provider.listWorkers()).toEqual([]);
    });
  }

  test("is rid of a link, and what it leads to stays", async () => {
    await using opened = await openProvider(bubblewrap);
    mkdirSync(`${opened.folder}/precious`);
    writeFileSync(`${opened.folder}/precious/file`, "");
    symlinkSync(`${opened.folder}/precious`, `${opened.folder}/${worker}`);
    await opened.provider.destroy(worker);
    expect(await opened.provider.listWorkers()).toEqual([]);
    expect(readdirSync(`${opened.folder}/precious`)).toEqual(["file"]);
  });
});

function makeEmptied(path: string): void {
  mkdirSync(path);
  writeFileSync(`${path}/identity.json`, "");
}
