import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { startDeadlineClock } from "../../src/guest/deadline.js";
import type { DisposableEnvironment, EnvironmentProfile, ResourcePolicy } from "../../src/index.js";
import {
  bubblewrap,
  kinds,
  type OpenedProvider,
  openProvider,
  type ProviderKind,
  text,
  workerName,
} from "./provider-kinds.js";

interface Tried extends OpenedProvider {
  readonly environment: DisposableEnvironment;
  readonly name: string;
}

interface Wanted {
  readonly policy?: ResourcePolicy;
  readonly more?: Partial<EnvironmentProfile>;
  readonly deadlineMs?: number;
}

async function withEnvironment(
  kind: ProviderKind,
  wanted: Wanted,
  run: (tried: Tried) => Promise<void>,
): Promise<void> {
  await using opened = await openProvider(kind);
  const name = workerName();
  const profile = kind.profile(wanted.policy, wanted.more);
  const { deadlineMs = 60_000 } = wanted;
  await using environment = await opened.provider.create(name, profile, { deadlineMs });
  await run({ ...opened, environment, name });
}

/** Nothing of it runs, and nothing of it is on disk. */
async function expectGone({ provider, folder, name, environment }: Tried): Promise<void> {
  expect(await provider.exists(name)).toBe("no");
  await environment.close();
  expect(await provider.listWorkers()).toEqual([]);
  expect(readdirSync(folder)).toEqual(["guest"]);
}

describe.each(kinds)("a $name environment ends", (kind) => {
  const test = partTest(...kind.parts);

  test("by its own deadline, with all that runs in it", () =>
    withEnvironment(kind, { deadlineMs: 400 }, async (tried) => {
      const { environment } = tried;
      const process = await environment.open(["sh", "-c", "setsid sleep 1000 & sleep 1000"]);
      expect(await environment.ended).toMatchObject({ reason: "deadline" });
      expect(await process.exited).toEqual({ code: undefined, signal: undefined });
      await expectGone(tried);
    }));

  test("later, when its deadline is moved", () =>
    withEnvironment(kind, { deadlineMs: 1500 }, async ({ environment }) => {
      environment.setDeadline(60_000);
      const slept = await environment.run(["sleep", "2"]);
      expect(slept.exitCode).toBe(0);
      environment.setDeadline(1);
      expect(await environment.ended).toMatchObject({ reason: "deadline" });
    }));

  test("when it is closed, and says so to all who ask, however often", () =>
    withEnvironment(kind, {}, async (tried) => {
      const { environment, provider, name } = tried;
      expect(await provider.exists(name)).toBe("yes");
      expect(await provider.listWorkers()).toEqual([name]);
      await Promise.all([environment.close(), provider.destroy(name), environment.close()]);
      expect(await environment.ended).toEqual({ reason: "closed", detail: "closed" });
      await provider.destroy(name);
      await expectGone(tried);
    }));

  test("with the provider, which then makes no more", () =>
    withEnvironment(kind, {}, async (tried) => {
      await tried.provider.close();
      await expectGone(tried);
      const again = tried.provider.create(workerName(), kind.profile(), { deadlineMs: 1000 });
      await expect(again).rejects.toMatchObject({ code: "ENVIRONMENT_NOT_CREATED" });
    }));

  test("leaves nothing when its start is aborted at any moment", async () => {
    await using opened = await openProvider(kind);
    const profile = kind.profile();
    await (await opened.provider.create(workerName(), profile, { deadlineMs: 1000 })).close();
    for (const ms of [0, 1, 2, 4, 8, 12, 16, 24]) {
      const abort = new AbortController();
      const making = opened.provider.create(workerName(), profile, { deadlineMs: 60_000, signal: abort.signal });
      setTimeout(() => abort.abort("enough"), ms);
      const made = await making.catch((error: unknown) => error);
      if (made !== "enough") await opened.provider.close();
      expect(await opened.provider.listWorkers()).toEqual([]);
      expect(readdirSync(opened.folder)).toEqual(["guest"]);
      if (made !== "enough") break;
    }
  });

  test("leaves nothing when it cannot be started", async () => {
    await using opened = await openProvider(kind);
    for (const more of [
      { template: "/no/such/python" },
      { template: "no-such-python" },
      { template: "/bin/sh" },
      { mounts: [{ source: "/no/such/folder", target: kind === bubblewrap ? "/data" : "/elsewhere" }] },
    ]) {
      const making = opened.provider.create(workerName(), kind.profile({}, more), { deadlineMs: 1000 });
      await expect(making).rejects.toMatchObject({ code: "ENVIRONMENT_NOT_CREATED" });
      expect(await opened.provider.listWorkers()).toEqual([]);
    }
    await expect(opened.provider.create("../../etc", kind.profile(), { deadlineMs: 1000 })).rejects.toMatchObject({
      code: "OPTION_INVALID",
    });
    await expect(kind.open(`/tmp/${"a".repeat(80)}`)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(kind.open("relative")).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});

describe("a bubblewrap environment", () => {
  const test = partTest("bubblewrap", "python3");

  test("names memory when it ran out of it, and lives on when only a command was killed", () =>
    withEnvironment(bubblewrap, { policy: { limits: { memoryBytes: 64 * 2 ** 20 } } }, async ({ environment }) => {
      const greedy = await environment.run(["python3", "-c", "bytearray(200 << 20)"]);
      expect(greedy.signal).toBe("SIGKILL");
      expect((await environment.run(["echo", "alive"])).exitCode).toBe(0);
    }));

  test("says which limits are held, and what it uses", () =>
    withEnvironment(bubblewrap, { policy: { limits: { memoryBytes: 64 * 2 ** 20, processes: 20 } } }, async (tried) => {
      const held = Object.fromEntries(tried.environment.enforced.map(({ limit, value }) => [limit, value]));
      expect(held).toMatchObject({ memoryBytes: 64 * 2 ** 20, processes: 20, workspaceBytes: 256 * 2 ** 20 });
      const usage = tried.environment.usage();
      expect(usage.processes).toBeGreaterThanOrEqual(1);
      expect(usage.memoryBytes).toBeGreaterThan(100_000);
      const full = await tried.environment.run(["sh", "-c", "for n in $(seq 50); do sleep 5 & done; wait"], {
        timeoutMs: 10_000,
      });
      expect(text(full.stderr)).toMatch(/Cannot fork|Resource temporarily unavailable/);
    }));

  test("holds the size of its workspace and of /tmp", () =>
    withEnvironment(
      bubblewrap,
      { policy: { limits: { workspaceBytes: 2 ** 20, tmpBytes: 2 ** 20 } } },
      async ({ environment }) => {
        for (const place of ["/workspace", "/tmp"]) {
          const written = await environment.run([
            "sh",
            "-c",
            `head -c 3000000 /dev/zero > ${place}/x; wc -c < ${place}/x`,
          ]);
          expect(Number(text(written.stdout))).toBeLessThanOrEqual(2 ** 20);
          expect(text(written.stderr)).toContain("No space left");
        }
      },
    ));

  test("cannot end its own agent", () =>
    withEnvironment(bubblewrap, {}, async ({ environment }) => {
      const attack = `
import ctypes, os
for number in range(1, 65):
    try: os.kill(1, number)
    except OSError: pass
libc = ctypes.CDLL(None)
def attempt(what, work):
    try: print(what, work())
    except OSError: pass
attempt("mem", lambda: open("/proc/1/mem", "rb"))
attempt("write", lambda: open("/proc/1/mem", "r+b"))
attempt("environ", lambda: open("/proc/1/environ", "rb").read())
attempt("fd", lambda: os.readlink("/proc/1/fd/0"))
attempt("open", lambda: open("/proc/1/fd/0"))
for what, call in ("getfd", (438, os.pidfd_open(1), 0, 0)), ("attach", (101, 16, 1, 0, 0)):
    if libc.syscall(*call) >= 0: print(what)
print("tried")
`;
      const attacked = await environment.run(["python3", "-c", attack]);
      expect(text(attacked.stdout)).toBe("tried\n");
      expect((await environment.run(["echo", "alive"])).exitCode).toBe(0);
    }));

  test("shows a host's folder where the profile says, and writes only where it says", async () => {
    await using opened = await openProvider(bubblewrap);
    const mounts = [
      { source: opened.folder, target: "/app/shared" },
      { source: opened.folder, target: "/app/uploads", writable: true, maxBytes: 2 ** 20 },
    ];
    await using environment = await opened.provider.create(workerName(), bubblewrap.profile({}, { mounts }), {
      deadlineMs: 60_000,
    });
    const written = await environment.run([
      "sh",
      "-c",
      "echo x > /app/uploads/x; cat /app/shared/x; echo y > /app/shared/y",
    ]);
    expect(text(written.stdout)).toBe("x\n");
    expect(text(written.stderr)).toContain("Read-only");
  });

  test("is ended for disk when a writable folder of the host holds too much", async () => {
    await using opened = await openProvider(bubblewrap);
    await using other = await openProvider(bubblewrap);
    const mounts = [{ source: other.folder, target: "/app/uploads", writable: true, maxBytes: 2 ** 20 }];
    await using environment = await opened.provider.create(workerName(), bubblewrap.profile({}, { mounts }), {
      deadlineMs: 60_000,
    });
    const filling = await environment.open(["sh", "-c", "head -c 5000000 /dev/zero > /app/uploads/x; sleep 1000"]);
    expect(await environment.ended).toMatchObject({
      reason: "disk",
      detail: expect.stringContaining("raise maxBytes"),
    });
    expect(await filling.exited).toEqual({ code: undefined, signal: undefined });
  });

  test("is ended, and says by what, when somebody kills its agent from outside", () =>
    withEnvironment(bubblewrap, {}, async (tried) => {
      const process = await tried.environment.open(["sh", "-c", "echo up; sleep 1000"]);
      await once(process.stream, "data");
      const identity = JSON.parse(readFileSync(`${tried.folder}/${tried.name}/identity.json`, "utf8"));
      globalThis.process.kill(identity.init.pid, "SIGKILL");
      expect(await tried.environment.ended).toEqual({ reason: "signal", detail: "SIGKILL" });
      await expectGone(tried);
    }));
});

describe("the host's clock of a deadline", () => {
  it("does not take an exit with 124 for the deadline before its time", () => {
    const exit = { reason: "exit" as const, detail: "exit status 124", code: 124 };
    expect(startDeadlineClock(60_000).explain(exit)).toEqual({ reason: "exit", detail: "exit status 124" });
    expect(startDeadlineClock(0).explain(exit).reason).toBe("deadline");
    expect(startDeadlineClock(0).explain({ ...exit, code: 1 }).reason).toBe("exit");
    const moved = startDeadlineClock(0);
    moved.set(60_000);
    expect(moved.explain(exit).reason).toBe("exit");
  });
});
