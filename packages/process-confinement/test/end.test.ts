import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { findSandbox, type Sandbox } from "../src/index.js";
import { groupsTest } from "./limits/groups-test.js";
import { readAll, readLine, sandboxesOfThisFile } from "./sandboxes.js";

const sandboxes = sandboxesOfThisFile();
const itInside = partTest("bubblewrap");
const scratch = mkdtempSync(join(tmpdir(), "berth-end-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const mib = 2 ** 20;

/** Opens one and waits until its script says `up`. */
async function openUp(script: string, options: Parameters<typeof sandboxes.open>[0] = {}): Promise<Sandbox> {
  const sandbox = await sandboxes.open({ script, ...options });
  expect(await readLine(sandbox.stdout)).toBe("up");
  return sandbox;
}

const isGone = (sandbox: Sandbox): void => {
  expect(findSandbox(sandbox.identity)).toBe("gone");
  for (const group of sandbox.identity.controlGroups) expect(() => readdirSync(group)).toThrow("ENOENT");
};

describe("an end that cannot be confirmed", () => {
  groupsTest("is said, by every call, until what holds it up is gone", async () => {
    const sandbox = await sandboxes.open({ script: "read x", policy: { limits: { processes: 20 } } });
    const held = sandbox.identity.controlGroups.map((group) => join(group, "held"));
    for (const folder of held) mkdirSync(folder); // the kernel removes no group that has another in it
    try {
      for (const end of [sandbox.kill, sandbox.close])
        await expect(end()).rejects.toMatchObject({
          code: "SANDBOX_NOT_ENDED",
          message: expect.stringContaining("groups"),
        });
      expect(await sandbox.exited).toMatchObject({ reason: "closed" });
    } finally {
      for (const folder of held) rmdirSync(folder);
    }
    await sandbox.close();
    isGone(sandbox);
  });
});

describe("the exit of a command", () => {
  itInside("is told with its status", async () => {
    const { exit } = await sandboxes.run({ script: "exit 7" });
    expect(exit).toEqual({ reason: "exited", code: 7, signal: undefined, memoryKills: undefined });
  });

  itInside("is told with the signal that it got from inside", async () => {
    const { exit } = await sandboxes.run({ script: "kill -SEGV $$" });
    expect(exit).toMatchObject({ reason: "signalled", code: undefined, signal: "SIGSEGV" });
  });

  itInside("takes along what it left behind, also what left its session, and what holds its pipes", async () => {
    const sandbox = await sandboxes.open({ script: "sleep 600 & setsid sleep 601 & (setsid sleep 602 &) ; exit 3" });
    expect(await sandbox.exited).toMatchObject({ reason: "exited", code: 3 });
    isGone(sandbox);
    expect(await readAll(sandbox.stdout)).toBe("");
  });

  itInside("by somebody outside is told as killed", async () => {
    const outer = await openUp("echo up; sleep 600");
    process.kill(outer.identity.outer.pid, "SIGKILL");
    expect(await outer.exited).toMatchObject({ reason: "killed", signal: "SIGKILL" });
    isGone(outer);
    const first = await openUp("echo up; sleep 600", { asPid1: true });
    process.kill(first.identity.init.pid, "SIGKILL");
    expect(await first.exited).toMatchObject({ reason: "killed", signal: "SIGKILL" });
    isGone(first);
  });

  itInside("keeps the last words", async () => {
    const { stdout, stderr } = await sandboxes.run({ script: "seq 100000; echo last >&2" });
    expect(stdout.trim().split("\n").length).toBe(100_000);
    expect(stderr).toBe("last\n");
  });
});

describe("closing", () => {
  itInside("asks the command first, and tells how it answered", async () => {
    const sandbox = await openUp("trap 'echo bye; exit 9' TERM; echo up; while :; do read x; done", {
      graceMs: 60_000,
    });
    await sandbox.close();
    expect(await sandbox.exited).toMatchObject({ reason: "closed", code: 9 });
    expect(await readAll(sandbox.stdout)).toBe("bye\n");
    isGone(sandbox);
  });

  itInside("ends a command that is deaf to SIGTERM after the grace", async () => {
    const sandbox = await openUp("trap '' TERM; echo up; while :; do sleep 60; done", { graceMs: 50 });
    await sandbox.close();
    expect(await sandbox.exited).toMatchObject({ reason: "closed", signal: "SIGKILL" });
    isGone(sandbox);
  });

  itInside("may be called at any moment, again, and by `await using`", async () => {
    const sandbox = await openUp("trap '' TERM; echo up; while :; do sleep 60; done", { graceMs: 60_000 });
    const closing = [sandbox.close(), sandbox.close(), sandbox[Symbol.asyncDispose]()];
    await sandbox.kill();
    await Promise.all([...closing, sandbox.close(), sandbox.kill()]);
    expect(sandbox.signal("SIGTERM")).toBe(false);
    isGone(sandbox);
  });

  itInside("after the command's own exit changes nothing of how that is told", async () => {
    const sandbox = await sandboxes.open({ script: "exit 5" });
    await sandbox.exited;
    await sandbox.close();
    expect(await sandbox.exited).toMatchObject({ reason: "exited", code: 5 });
  });

  itInside("kills without grace at once", async () => {
    const sandbox = await openUp("trap '' TERM; echo up; while :; do sleep 60; done", { graceMs: 600_000 });
    await sandbox.kill();
    expect(await sandbox.exited).toMatchObject({ reason: "closed", signal: "SIGKILL" });
    isGone(sandbox);
  });

  partTest("bubblewrap", "python3")("signals the command itself and not its children", async () => {
    // Both hold signals back; the child tells what has come once the command, which got one, asks it to.
    const python = `
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGUSR2})
child = os.fork()
if child: print("up", flush=True)
signal.sigwait({signal.SIGUSR1 if child else signal.SIGUSR2})
if child:
    print("got", flush=True)
    os.kill(child, signal.SIGUSR2)
    os.waitpid(child, 0)
else:
    print("child", sorted(signal.sigpending()), flush=True)
`;
    const sandbox = await sandboxes.open({ python });
    expect(await readLine(sandbox.stdout)).toBe("up");
    expect(sandbox.signal("SIGUSR1")).toBe(true);
    expect(await readAll(sandbox.stdout)).toBe("got\nchild []\n");
  });
});

describe("a quota", () => {
  itInside("of output ends the sandbox, and no byte above it is passed on", async () => {
    const { stdout, stderr, exit } = await sandboxes.run({
      script: "yes out & yes err >&2",
      policy: { limits: { outputBytes: 10_000 } },
    });
    expect(stdout.length + stderr.length).toBe(10_000);
    expect(exit).toMatchObject({ reason: "output", signal: "SIGKILL" });
  });

  itInside("of output that is just reached ends nothing", async () => {
    const { stdout, exit } = await sandboxes.run({
      script: "head -c 10000 /dev/zero",
      policy: { limits: { outputBytes: 10_000 } },
    });
    expect([stdout.length, exit.reason]).toEqual([10_000, "exited"]);
  });

  itInside("of a folder ends the sandbox when it is over", async () => {
    const source = join(scratch, "full");
    mkdirSync(source);
    const { exit } = await sandboxes.run({
      script: "dd if=/dev/zero of=big bs=1M count=8 2>/dev/null; sleep 600",
      policy: { workspace: { kind: "folder", source }, limits: { diskBytes: 4 * mib } },
    });
    expect(exit).toMatchObject({ reason: "disk", signal: "SIGKILL" });
  });

  itInside("of a folder that is held ends nothing", async () => {
    const source = join(scratch, "held");
    mkdirSync(source);
    const sandbox = await openUp("dd if=/dev/zero of=big bs=1M count=2 2>/dev/null; echo up; read x; exit 0", {
      policy: {
        readWrite: [{ source, target: "/srv/held", maxBytes: 8 * mib }],
        workspace: { kind: "memory", maxBytes: 8 * mib },
      },
    });
    expect(sandbox.enforced).toEqual([
      { limit: "tmpBytes", value: 64 * mib, by: "memory-file-system" },
      { limit: "workspaceBytes", value: 8 * mib, by: "memory-file-system" },
    ]);
    sandbox.stdin.end("x\n");
    expect(await sandbox.exited).toMatchObject({ reason: "exited", code: 0 });
  });
});
