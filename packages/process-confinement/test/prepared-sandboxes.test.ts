import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { childrenOf, isAlive, listProcesses, markProcess, readStat } from "../src/identity/process-identity.js";
import {
  createPreparedSandboxes,
  egressPort,
  endSandbox,
  findSandbox,
  openSandbox,
  type PreparedSandboxes,
  type PreparedSandboxesOptions,
  type PreparedStart,
  type Sandbox,
  type SandboxIdentity,
} from "../src/index.js";
import { groupsTest } from "./limits/groups-test.js";
import { readAll, uniqueName } from "./sandboxes.js";

const itInside = partTest("bubblewrap");
const itWithPython = partTest("bubblewrap", "python3");
const program = fileURLToPath(new URL("programs/prepared-host.mjs", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "berth-prepared-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const made: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of made.splice(0).reverse()) await one[Symbol.asyncDispose]();
});
function prepareForThisTest(options: Partial<PreparedSandboxesOptions> = {}): PreparedSandboxes {
  const prepared = createPreparedSandboxes({ name: "prepared", policy: {}, file: "/bin/sh", ...options });
  made.push(prepared);
  return prepared;
}

/** The sandboxes that wait now, by their bubblewrap. */
const waiting = (): readonly number[] => childrenOf(process.pid);

const script = (text: string): PreparedStart => ({ args: ["-c", text], env: { PATH: "/usr/bin:/bin" } });

async function outcome(sandbox: Sandbox) {
  made.push(sandbox);
  sandbox.stdin.end();
  const [stdout, stderr, exit] = await Promise.all([readAll(sandbox.stdout), readAll(sandbox.stderr), sandbox.exited]);
  await sandbox.close();
  return { stdout, stderr, exit, outer: sandbox.identity.outer.pid };
}

describe("prepared sandboxes", () => {
  itInside("serve one command each, and are replaced", async () => {
    const prepared = prepareForThisTest({ count: 2 });
    await prepared.ready();
    const first = waiting();
    expect(first).toHaveLength(2);
    const said = await Promise.all(
      ["one", "two"].map(async (word) => outcome(await prepared.open(script(`echo ${word}`)))),
    );
    expect(said.map(({ stdout }) => stdout)).toEqual(["one\n", "two\n"]);
    expect(said.map(({ outer }) => outer)).toEqual(first);
    await prepared.ready();
    expect(waiting()).toHaveLength(2);
    expect(waiting().filter((pid) => first.includes(pid))).toEqual([]);
  });

  itInside("are asked for more than there are: the others are started from the beginning", async () => {
    const prepared = prepareForThisTest();
    const words = ["a", "b", "c", "d"];
    const said = await Promise.all(words.map(async (word) => outcome(await prepared.open(script(`echo ${word}`)))));
    expect(said.map(({ stdout }) => stdout)).toEqual(words.map((word) => `${word}\n`));
    expect(new Set(said.map(({ outer }) => outer)).size).toBe(4);
  });

  describe.each([
    { asPid1: false, policy: {} },
    { asPid1: true, policy: { workspace: { kind: "memory", maxBytes: 2 ** 20 } } as const },
  ])("as process 1: $asPid1", ({ asPid1, policy }) => {
    const tells = `
import os, sys, json
mounts = [line.split()[3:6] for line in open("/proc/self/mountinfo")]
status = [line for line in open("/proc/self/status") if line.split(":")[0] in ("Pid", "PPid", "CapEff", "Seccomp", "Seccomp_filters", "NoNewPrivs", "NSsid", "SigIgn", "SigBlk")]
print(json.dumps([sys.argv, dict(os.environ), os.getcwd(), os.listdir("/proc/self/fd"), mounts, status, sorted(os.listdir("/proc"))[:9]]))`;

    itWithPython("give the command what openSandbox gives it", async () => {
      const prepared = prepareForThisTest({ file: "/usr/bin/python3", asPid1, policy });
      const starts: readonly PreparedStart[] = [
        { args: ["-I", "-c", tells], env: {} },
        {
          args: ["-I", "-c", tells, "", "it's", "$(id)", "\\", '"'],
          env: { A: "it's", PATH: "/usr/bin" },
          cwd: "/usr",
        },
        { args: ["-I", "-c", tells, "a\nb", "é"], env: { IFS: " ", OLDPWD: "/" } },
      ];
      for (const start of starts) {
        await prepared.ready();
        const seen = await outcome(await prepared.open(start));
        const rest = { name: uniqueName(), policy, file: "/usr/bin/python3", asPid1 };
        const expected = await outcome(await openSandbox({ ...start, ...rest }));
        expect(JSON.parse(seen.stdout)).toEqual(JSON.parse(expected.stdout));
        expect([seen.stderr, seen.exit]).toEqual([expected.stderr, expected.exit]);
      }
    });
  });

  itInside("run nothing before they were recorded, and are found and ended by their record", async () => {
    const prepared = prepareForThisTest();
    await prepared.ready();
    let recorded: SandboxIdentity | undefined;
    const sandbox = await prepared.open({
      ...script("exec sleep 600"),
      record: (identity) => {
        recorded = identity;
        const [first = 0] = childrenOf(identity.init.pid);
        expect(readFileSync(`/proc/${first}/cmdline`, "utf8")).toContain("read -r line");
        expect(findSandbox(identity)).toBe("running");
      },
    });
    made.push(sandbox);
    expect(sandbox.name).toMatch(new RegExp(`^prepared-${process.pid}-[0-9a-f]{12}$`));
    expect(recorded).toEqual(sandbox.identity);
    expect(await endSandbox(sandbox.identity)).toBe("gone");
    expect((await sandbox.exited).reason).toBe("killed");
  });

  itInside("that were killed while they waited, or are too old, are replaced", async () => {
    const prepared = prepareForThisTest({ maxAgeMs: 1_000 });
    await prepared.ready();
    const [first = 0] = waiting();
    await expect.poll(() => waiting()[0] ?? first, { timeout: 10_000 }).not.toBe(first);
    await prepared.ready();
    const marks = waiting().map(markProcess);
    for (const { pid } of marks) process.kill(pid, "SIGKILL");
    await expect.poll(() => marks.filter(isAlive)).toEqual([]);
    expect((await outcome(await prepared.open(script("echo said")))).stdout).toBe("said\n");
  });

  itInside("end with their close, and those that were opened live on", async () => {
    const prepared = prepareForThisTest({ count: 3 });
    const sandbox = await prepared.open(script("cat"));
    made.push(sandbox);
    await prepared.ready();
    const marks = waiting().map(markProcess);
    await Promise.all([prepared.close(), prepared.close()]);
    expect(marks.filter(isAlive).map(({ pid }) => pid)).toEqual([sandbox.identity.outer.pid]);
    await expect(prepared.open(script(""))).rejects.toMatchObject({ code: "STARTER_CLOSED" });
    await expect(prepared.ready()).rejects.toMatchObject({ code: "STARTER_CLOSED" });
  });

  itInside("that are still being made end with their close, too", async () => {
    const prepared = prepareForThisTest({ count: 3 });
    const full = expect(prepared.ready()).rejects.toMatchObject({ code: "STARTER_CLOSED" });
    await prepared.close();
    await full;
    expect(waiting()).toEqual([]);
  });

  itInside("and a starter that nobody closed let their program end, and end with it", async () => {
    const forgetful = fileURLToPath(new URL("programs/forgetful-host.mjs", import.meta.url));
    const host = spawn(process.execPath, [forgetful], { stdio: ["ignore", "pipe", "inherit"], timeout: 30_000 });
    const [said, [code]] = await Promise.all([readAll(host.stdout), once(host, "exit")]);
    expect(code).toBe(0);
    const waited = said.split(" ").filter(Boolean).map(Number);
    expect(waited.length).toBe(3);
    await expect.poll(() => waited.filter((pid) => readStat(pid) !== undefined), { timeout: 5_000 }).toEqual([]);
  });

  itInside("killed with their host leave no process; their control groups are removed by the next one", async () => {
    const name = uniqueName();
    const host = spawn(process.execPath, [program, name, "3"], { stdio: ["ignore", "pipe", "inherit"] });
    const lines = createInterface({ input: host.stdout })[Symbol.asyncIterator]();
    await lines.next();
    const outers = String((await lines.next()).value)
      .split(" ")
      .map(Number);
    const all = outers.flatMap((pid) => [pid, ...childrenOf(pid), ...childrenOf(pid).flatMap(childrenOf)]);
    const marks = all.map(markProcess);
    expect(marks.filter(isAlive).length).toBeGreaterThanOrEqual(9);
    host.kill("SIGKILL");
    await once(host, "exit");
    await expect.poll(() => marks.filter(isAlive), { timeout: 5_000 }).toEqual([]);
    const policy = {
      workspace: { kind: "folder", source: scratch },
      limits: { processes: 16, diskBytes: 2 ** 30 },
    } as const;
    const next = prepareForThisTest({ name, policy });
    const sandbox = await next.open(script(""));
    made.push(sandbox);
    const left = sandbox.identity.controlGroups.map(dirname).flatMap((folder) => readdirSync(folder));
    expect(left.filter((group) => group.startsWith(`${name}-${host.pid}-`))).toEqual([]);
  });
});

describe("what is bound", () => {
  const paths = (): { readonly source: string; readonly other: string } => {
    const folder = mkdtempSync(join(scratch, "bound-"));
    const [source, other] = [join(folder, "source"), join(folder, "other")];
    for (const [path, content] of [
      [source, "old\n"],
      [other, "new\n"],
    ] as const) {
      mkdirSync(path);
      writeFileSync(join(path, "file"), content);
    }
    return { source, other };
  };
  it.each([
    {
      title: "a folder that was replaced",
      swap: (source: string, other: string) => {
        rmSync(source, { recursive: true });
        renameSync(other, source);
      },
    },
    {
      title: "a folder in whose place is a link",
      swap: (source: string, other: string) => {
        renameSync(source, `${source}-old`);
        symlinkSync(other, source);
      },
    },
  ])("is never what it was before: $title", async ({ swap }) => {
    const { source, other } = paths();
    const prepared = prepareForThisTest({ policy: { readOnly: [{ source, target: "/opt/it" }] } });
    await prepared.ready();
    const [old = 0] = waiting();
    const mark = markProcess(old);
    swap(source, other);
    const { stdout, outer } = await outcome(await prepared.open(script("cat /opt/it/file")));
    expect([stdout, outer === old]).toEqual(["new\n", false]);
    await prepared.ready();
    await expect.poll(() => isAlive(mark)).toBe(false);
  });

  itInside("is refused when it is gone", async () => {
    const { source } = paths();
    const prepared = prepareForThisTest({ policy: { readOnly: [{ source, target: "/opt/it" }] } });
    await prepared.ready();
    rmSync(source, { recursive: true });
    await expect(prepared.open(script(""))).rejects.toMatchObject({ code: "PATH_NOT_FOUND" });
    await expect(prepared.ready()).rejects.toMatchObject({ code: "PATH_NOT_FOUND" });
  });

  itInside("through a link is what that leads to when the sandbox is asked for", async () => {
    const { source, other } = paths();
    const link = join(scratch, "link");
    symlinkSync(source, link);
    const prepared = prepareForThisTest({ policy: { readOnly: [{ source: link, target: "/opt/it" }] } });
    await prepared.ready();
    unlinkSync(link);
    symlinkSync(other, link);
    expect((await outcome(await prepared.open(script("cat /opt/it/file")))).stdout).toBe("new\n");
  });
});

describe("the limits of a prepared sandbox", () => {
  groupsTest("hold by control groups that it was made in, and are removed with it", async () => {
    const limits = { memoryBytes: 64 * 2 ** 20, processes: 8 };
    const prepared = prepareForThisTest({ file: "/usr/bin/python3", policy: { limits } });
    await prepared.ready();
    const take = { args: ["-c", "b = bytearray(256 << 20)"], env: {} };
    const sandbox = await prepared.open(take);
    expect(sandbox.usage().memoryBytes).toBeGreaterThan(0);
    expect(sandbox.identity.controlGroups.every(existsSync)).toBe(true);
    expect((await outcome(sandbox)).exit.reason).toBe("memory");
    expect(sandbox.identity.controlGroups.filter(existsSync)).toEqual([]);
  });

  itInside("hold by rlimits and by counting", async () => {
    const prepared = prepareForThisTest({ policy: { limits: { openFiles: 20, cpuSeconds: 9, outputBytes: 1_024 } } });
    await prepared.ready();
    expect((await outcome(await prepared.open(script("ulimit -n; ulimit -t")))).stdout).toBe("20\n9\n");
    await prepared.ready();
    const { stdout, exit } = await outcome(await prepared.open(script("yes")));
    expect([stdout.length, exit.reason]).toEqual([1_024, "output"]);
  });

  itInside("hold with noGrowth", async () => {
    const prepared = prepareForThisTest({ policy: { noGrowth: true } });
    await prepared.ready();
    expect((await outcome(await prepared.open(script("echo >/tmp/x")))).stderr).toContain("Disk quota exceeded");
  });

  itWithPython("leave the proxy reachable, at the first connect", async () => {
    const socket = join(scratch, "egress.sock");
    const proxy = createServer((request, response) => response.end(`asked for ${request.url}`)).listen(socket);
    await once(proxy, "listening");
    try {
      const prepared = prepareForThisTest({
        policy: { network: { mode: "allowlist", socket } },
        file: "/usr/bin/python3",
      });
      await prepared.ready();
      const fetch =
        'import os, urllib.request; print(os.environ["HTTP_PROXY"], urllib.request.urlopen("http://a.test/").read())';
      const { stdout } = await outcome(await prepared.open({ args: ["-c", fetch], env: {} }));
      expect(stdout).toBe(`http://127.0.0.1:${egressPort} b'asked for http://a.test/'\n`);
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  });
});

describe("a start that fails", () => {
  const reason = new Error("enough");
  itInside("leaves nothing, and the next one succeeds", async () => {
    const prepared = prepareForThisTest({ count: 2 });
    const never = new Promise<void>(() => {});
    const rows: readonly (readonly [PreparedStart, object])[] = [
      [{ ...script("echo"), record: () => Promise.reject(reason) }, reason],
      [{ ...script("echo"), signal: AbortSignal.abort(reason) }, reason],
      [{ ...script("echo"), record: () => never, startTimeoutMs: 20 }, { code: "START_TIMEOUT" }],
      [{ ...script("echo"), cwd: "/not-there" }, { code: "SANDBOX_NOT_STARTED" }],
    ];
    for (const [start, expected] of rows) {
      await prepared.ready();
      await expect(prepared.open(start)).rejects.toMatchObject(expected);
    }
    const ending = new AbortController();
    const aborted = prepared.open({ ...script("echo"), record: () => ending.abort(reason), signal: ending.signal });
    await expect(aborted).rejects.toBe(reason);
    expect((await outcome(await prepared.open(script("echo said")))).stdout).toBe("said\n");
    await prepared.close();
    expect(listProcesses().filter((pid) => readStat(pid)?.parent === process.pid)).toEqual([]);
  });

  itInside("ends the waiting of one that asks whether all are ready", async () => {
    const prepared = prepareForThisTest();
    await expect(prepared.ready({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it.each([
    { title: "a name that is too long", options: { name: "x".repeat(41) }, field: "name" },
    { title: "a name with a slash", options: { name: "a/b" }, field: "name" },
    { title: "none to wait", options: { count: 0 }, field: "count" },
    { title: "more than may wait", options: { count: 17 }, field: "count" },
    { title: "an age below a second", options: { maxAgeMs: 999 }, field: "maxAgeMs" },
    { title: "an option of a start", options: JSON.parse('{"args":[]}'), field: "args" },
    { title: "a relative program", options: { file: "sh" }, field: "file" },
  ])("is refused at once with $title", ({ options, field }) => {
    const create = (): unknown => createPreparedSandboxes({ name: "x", policy: {}, file: "/bin/sh", ...options });
    expect(create).toThrow(expect.objectContaining({ code: "SANDBOX_OPTION_INVALID", field }));
  });

  itInside("is refused what was decided before", async () => {
    const prepared = prepareForThisTest();
    for (const field of ["name", "policy", "file", "handshake"]) {
      const start = { ...script(""), ...JSON.parse(`{"${field}":"x"}`) };
      await expect(prepared.open(start)).rejects.toMatchObject({ code: "SANDBOX_OPTION_INVALID", field });
    }
  });
});
