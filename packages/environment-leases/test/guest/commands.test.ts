import { randomInt } from "node:crypto";
import { once } from "node:events";
import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import type { DisposableEnvironment } from "../../src/index.js";
import { kinds, openProvider, type ProviderKind, text, workerName } from "./provider-kinds.js";

async function withEnvironment(
  kind: ProviderKind,
  run: (environment: DisposableEnvironment) => Promise<void>,
  limits = {},
): Promise<void> {
  await using opened = await openProvider(kind, limits);
  await using environment = await opened.provider.create(workerName(), kind.profile(), { deadlineMs: 60_000 });
  await run(environment);
}

describe.each(kinds)("commands in a $name environment", (kind) => {
  const test = partTest(...kind.parts);

  test("run to their end, with status, output and what they read", () =>
    withEnvironment(kind, async ({ run }) => {
      const result = await run(["sh", "-c", "cat; echo oops >&2; exit 3"], { stdin: Buffer.from("hello") });
      expect(result).toMatchObject({ exitCode: 3, signal: undefined, stdoutBytes: 5, stderrBytes: 5 });
      expect([text(result.stdout), text(result.stderr)]).toEqual(["hello", "oops\n"]);
    }));

  test("tell the signal that ended them", () =>
    withEnvironment(kind, async ({ run }) => {
      expect(await run(["sh", "-c", "kill -TERM $$"])).toMatchObject({ exitCode: undefined, signal: "SIGTERM" });
    }));

  test("get arguments as they are, by no shell", () =>
    withEnvironment(kind, async ({ run }) => {
      const odd = ["$HOME", "a b", "", "'\"\\", "ä€😀", "*"];
      const result = await run(["python3", "-c", "import sys; print(ascii(sys.argv[1:]))", ...odd]);
      expect(text(result.stdout).trim()).toBe("['$HOME', 'a b', '', '\\'\"\\\\', '\\xe4\\u20ac\\U0001f600', '*']");
    }));

  test("see the environment that is listed and nothing of ours", () =>
    withEnvironment(kind, async ({ run }) => {
      process.env["BERTH_SECRET_OF_THE_HOST"] = "1";
      const result = await run(["env"], { env: { LANG: "C", OWN: "value" } });
      delete process.env["BERTH_SECRET_OF_THE_HOST"];
      const names = text(result.stdout)
        .match(/^[A-Za-z_]+(?==)/gm)
        ?.sort();
      expect(names?.filter((name) => !["PWD", "BERTH_ENVIRONMENT"].includes(name))).toEqual([
        "HOME",
        "LANG",
        "OWN",
        "PATH",
      ]);
      expect(text(result.stdout)).toContain("LANG=C\n");
    }));

  test("start in the workspace, where they may write", () =>
    withEnvironment(kind, async ({ run, workspace }) => {
      expect(text((await run(["sh", "-c", "echo x > y && pwd && cat y"])).stdout)).toBe(`${workspace}\nx\n`);
      expect(text((await run(["pwd"], { cwd: "/usr" })).stdout)).toBe("/usr\n");
    }));

  test("have only their three descriptors", () =>
    withEnvironment(kind, async ({ run }) => {
      const list = "import os; print(sorted(fd for fd in range(64) if os.path.exists(f'/proc/self/fd/{fd}')))";
      expect(text((await run(["python3", "-c", list])).stdout)).toBe("[0, 1, 2]\n");
    }));

  for (const [what, argv, options] of [
    ["a program that does not exist", ["/no/such/program"], {}],
    ["a name that is not in PATH", ["no-such-program"], {}],
    ["a file that is no program", ["/etc/hosts"], {}],
    ["a folder that does not exist", ["true"], { cwd: "/no/such/folder" }],
  ] as const) {
    test(`are refused for ${what}`, () =>
      withEnvironment(kind, async ({ run }) => {
        await expect(run(argv, options)).rejects.toMatchObject({ code: "COMMAND_NOT_STARTED" });
      }));
  }

  test("that cannot be started cost nothing but themselves, however often", () =>
    withEnvironment(
      kind,
      async ({ run }) => {
        for (let done = 0; done < 100; done += 1) {
          await expect(run(["/no/such/program"])).rejects.toMatchObject({ code: "COMMAND_NOT_STARTED" });
        }
        expect((await run(["true"])).exitCode).toBe(0);
      },
      { maxRefusedStreams: 1, maxOpen: 4 },
    ));

  test("are killed with their group when their time is over", () =>
    withEnvironment(kind, async ({ run }) => {
      // Of no other test run, whose processes one that is not confined sees, too.
      const seconds = `${randomInt(1_000_000, 2 ** 31)}`;
      const long = run(["sh", "-c", `sleep ${seconds} & sleep ${seconds}`], { timeoutMs: 100 });
      await expect(long).rejects.toMatchObject({ code: "COMMAND_TIMEOUT" });
      const count = `cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c 'sleep ${seconds}[ ]'`;
      // They were signalled; the end is the kernel's, a moment later.
      await expect
        .poll(async () => text((await run(["sh", "-c", count])).stdout).trim(), { timeout: 10_000 })
        .toBe("0");
    }));

  test("are killed when the caller aborts, and reject with its reason", () =>
    withEnvironment(kind, async ({ run }) => {
      const abort = new AbortController();
      const running = run(["sleep", "1000"], { signal: abort.signal });
      abort.abort("enough");
      await expect(running).rejects.toBe("enough");
      await expect(run(["true"], { signal: abort.signal })).rejects.toBe("enough");
    }));

  test("may write without end: it is read, counted and dropped", () =>
    withEnvironment(
      kind,
      async ({ run }) => {
        const result = await run(["sh", "-c", "head -c 30000000 /dev/zero; head -c 2000000 /dev/zero >&2"]);
        expect(result).toMatchObject({ exitCode: 0, stdoutBytes: 30_000_000, stderrBytes: 2_000_000 });
        expect([result.stdout.length, result.stderr.length]).toEqual([1000, 1000]);
      },
      { maxOutputBytes: 1000 },
    ));

  test("that do not read what they could still tell all that they wrote", () =>
    withEnvironment(kind, async ({ run }) => {
      const stdin = Buffer.alloc(1_000_000);
      const results = await Promise.all(Array.from({ length: 20 }, () => run(["echo", "told"], { stdin })));
      expect(results.map(({ stdout }) => text(stdout))).toEqual(Array.from({ length: 20 }, () => "told\n"));
    }));

  test("that leave a process with their output behind are not waited for", () =>
    withEnvironment(kind, async ({ run }) => {
      const result = await run(["sh", "-c", "setsid sleep 1000 & echo done"]);
      expect(text(result.stdout)).toBe("done\n");
      expect(result.durationMs).toBeLessThan(5000);
    }));

  test("run beside each other", () =>
    withEnvironment(kind, async ({ run }) => {
      const results = await Promise.all(Array.from({ length: 20 }, (_, at) => run(["echo", String(at)])));
      expect(results.map(({ stdout }) => text(stdout).trim())).toEqual(Array.from({ length: 20 }, (_, at) => `${at}`));
    }));

  test("that are opened carry bytes both ways until both sides are done", () =>
    withEnvironment(kind, async ({ open }) => {
      await using cat = await open(["cat"]);
      const pieces: Buffer[] = [];
      cat.stream.on("data", (piece: Buffer) => pieces.push(piece));
      const sent = Buffer.alloc(3_000_000, "berth ");
      cat.stream.end(sent);
      await once(cat.stream, "end");
      expect(Buffer.concat(pieces).equals(sent)).toBe(true);
      expect(await cat.exited).toEqual({ code: 0, signal: undefined });
    }));

  test("that have ended before anybody reads lose nothing", () =>
    withEnvironment(kind, async ({ open }) => {
      await using echo = await open(["sh", "-c", "echo out; echo err >&2"]);
      await echo.exited;
      await new Promise(setImmediate);
      for (const [stream, wanted] of [
        [echo.stream, "out\n"],
        [echo.stderr, "err\n"],
      ] as const) {
        const pieces: Buffer[] = [];
        for await (const piece of stream) pieces.push(piece);
        expect(Buffer.concat(pieces).toString()).toBe(wanted);
      }
    }));

  test("that are opened can be interrupted, and closing waits for their end", () =>
    withEnvironment(kind, async ({ open }) => {
      const waits = await open(["python3", "-c", "import time; print('up', flush=True); time.sleep(1000)"]);
      await once(waits.stream, "data");
      waits.signal("SIGINT");
      expect(await waits.exited).toEqual({ code: undefined, signal: "SIGINT" });
      const stubborn = await open(["sh", "-c", "trap '' INT TERM; echo up; while :; do sleep 1; done"]);
      await once(stubborn.stream, "data");
      stubborn.signal("SIGTERM", { group: true });
      await Promise.all([stubborn.close(), stubborn.close()]);
      expect(await stubborn.exited).toEqual({ code: undefined, signal: "SIGKILL" });
    }));

  test("are bounded in number", () =>
    withEnvironment(
      kind,
      async ({ open }) => {
        await using _one = await open(["sleep", "1000"]);
        const two = await open(["sleep", "1000"]);
        await expect(open(["true"])).rejects.toMatchObject({ code: "COMMAND_NOT_STARTED" });
        await two.close();
        await using _three = await open(["sleep", "1000"]);
      },
      { maxOpen: 2 },
    ));

  test("end with their environment, and then are refused", () =>
    withEnvironment(kind, async (environment) => {
      const process = await environment.open(["sleep", "1000"]);
      const running = environment.run(["sleep", "1000"]);
      const refused = expect(running).rejects.toMatchObject({ code: "ENVIRONMENT_ENDED" });
      await environment.close();
      expect(await process.exited).toEqual({ code: undefined, signal: undefined });
      await refused;
      await expect(environment.run(["true"])).rejects.toMatchObject({ code: "ENVIRONMENT_ENDED" });
      expect(await environment.ended).toEqual({ reason: "closed", detail: "closed" });
    }));
});
