import { spawn } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { openChild, probeContainment } from "../src/index.js";
import { childrenOfThisFile, PATH, python, sh } from "./children.js";
import { failure, soon } from "./recorder.js";

const opened = childrenOfThisFile();
const itWithPython = partTest("python3");
const scratch = realpathSync(mkdtempSync(join(tmpdir(), "berth-child-")));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe.each(["auto", "group"] as const)("a child (containment %s)", (containment) => {
  it("says what holds it: what the probe found, or the group", async () => {
    const { child } = await opened({ ...sh("read -r line"), containment });
    expect(child.containment).toBe(containment === "group" ? "group" : (await probeContainment()).containment);
  });

  itWithPython("gets the listed environment, argv, folder and three descriptors, and nothing else", async () => {
    const folder = join(scratch, "a folder");
    mkdirSync(folder, { recursive: true });
    const secret = openSync("/etc/passwd", "r");
    const args = ["", "two words", "$HOME `id` ; * \\", "ü\n☃", "-x"];
    const env = { EMPTY: "", "odd.name-1": "a=b=c", MULTI: "line 1\nline 2 ü", IFS: "x" };
    const { file, args: script } = python("describe.py");
    const { child, recorder, token } = await opened({
      file,
      argv0: "another name",
      args: [...script, ...args],
      env,
      cwd: folder,
      containment,
      // A careless spawn function, which lets one more descriptor through.
      spawn: (launcher, words, options) => spawn(launcher, words, { ...options, stdio: [...options.stdio, secret] }),
    });
    closeSync(secret);
    await recorder.framesCame(1);
    const told = JSON.parse(recorder.frames[0] ?? "");
    expect(told.environ.toSorted()).toEqual(
      [...Object.entries({ PATH, TOKEN: token, ...env }).map(([name, value]) => `${name}=${value}`)].toSorted(),
    );
    expect(told.argv).toEqual(["another name", ...script, ...args]);
    expect(told.cwd).toBe(folder);
    expect(told.descriptors).toEqual([0, 1, 2]);
    expect(told.group).toBe(told.pid);
    expect(told.pid).not.toBe(1);
    await child.close();
    expect(await child.exited).toEqual({ code: 0, signal: null });
  });

  itWithPython("does not inherit the pipes of others that are opened at the same time", async () => {
    const all = await Promise.all(
      Array.from({ length: 6 }, () => opened({ ...python("describe.py"), env: {}, containment })),
    );
    await Promise.all(all.map(({ recorder }) => recorder.framesCame(1)));
    for (const { recorder } of all) expect(JSON.parse(recorder.frames[0] ?? "").descriptors).toEqual([0, 1, 2]);
    // The end of one's input reaches it though the others live.
    const [first, ...others] = all;
    await soon(first?.child.close() ?? Promise.reject(new Error("none")), "the close of one");
    expect(await first?.child.exited).toEqual({ code: 0, signal: null });
    expect(others.every(({ recorder }) => recorder.closes.length === 0)).toBe(true);
  });

  it("keeps arguments and values out of the list of processes", async () => {
    const { child, token } = await opened({ ...sh("read -r line", "secret-argument"), containment });
    const listed = commandLines();
    expect(listed.filter(({ words }) => words.includes(token))).toEqual([]);
    expect(listed.filter(({ words }) => words.includes("secret-argument")).map(({ pid }) => pid)).toEqual([child.pid]);
  });

  it.each([
    { how: "code 0", script: "exit 0", status: { code: 0, signal: null } },
    { how: "code 1", script: "exit 1", status: { code: 1, signal: null } },
    { how: "code 255", script: "exit 255", status: { code: 255, signal: null } },
    { how: "SIGKILL", script: "kill -KILL $$", status: { code: null, signal: "SIGKILL" } },
    { how: "SIGSEGV", script: "kill -SEGV $$", status: { code: null, signal: "SIGSEGV" } },
    { how: "SIGTERM", script: "kill -TERM $$", status: { code: null, signal: "SIGTERM" } },
  ])("tells an end by $how as it was", async ({ script, status }) => {
    const { child, recorder } = await opened({ ...sh(script), containment });
    expect(await soon(child.exited, "the exit")).toEqual(status);
    expect(await soon(recorder.closed, "the close")).toMatchObject({ code: "CHILD_EXITED" });
    await soon(child.ended, "the end of all");
  });

  it("delivers what a command wrote before it exited, and then its exit", async () => {
    const { recorder } = await opened({ ...sh(`printf '{"n":1}\\n{"n":2}\\n'; exit 3`), containment });
    const cause = await soon(recorder.closed, "the close");
    expect(recorder.log).toEqual(['frame {"n":1}', 'frame {"n":2}', "close"]);
    expect(cause).toMatchObject({ code: "CHILD_EXITED", message: "the command ended with code 3" });
  });

  const noProgram = join(scratch, "no-program");
  writeFileSync(noProgram, "#!/bin/sh\n", { mode: 0o644 });
  it.each([
    { reason: "ENOENT", file: "/nowhere/at/all", cwd: undefined },
    { reason: "ENOENT", file: "no-such-command-anywhere", cwd: undefined },
    { reason: "EACCES", file: noProgram, cwd: undefined },
    { reason: "EACCES", file: scratch, cwd: undefined },
    { reason: "ENOENT", file: "true", cwd: "/nowhere" },
    { reason: "ENOTDIR", file: "true", cwd: noProgram },
  ])("tells $file in $cwd, which was never executed ($reason), from one that ran", async ({ file, cwd, reason }) => {
    const error = await failure(openChild({ file, args: [], env: { PATH }, cwd, containment }));
    expect(error).toMatchObject({ code: "CHILD_NOT_STARTED", reason });
  });

  itWithPython("counts 9 MB of stderr exactly while nobody listens, and the child never blocks on it", async () => {
    const size = 9_000_000;
    const { child, recorder } = await opened({ ...python("stderr_flood.py", String(size)), containment });
    await soon(recorder.framesCame(1), "the answer");
    await child.close();
    await child.pipesClosed;
    expect(child.stderr.byteCount).toBe(size);
    expect(child.stderr.tail()).toHaveLength(65_536);
    const text = Buffer.from(child.stderr.tail()).toString();
    expect(text).toBe("0123456789abcdef".repeat(9_000_000 / 16).slice(-65_536));
  });

  it("keeps the last bytes of stderr and gives bounded lines to a logger that throws", async () => {
    const lines: string[] = [];
    const script = `printf 'one\\r\\n\\n%0200d\\nthr\\351e\\nlast' 7 >&2`;
    const uncaught: unknown[] = [];
    const caught = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    process.on("uncaughtException", (error) => uncaught.push(error));
    try {
      const { child } = await opened({
        ...sh(script),
        containment,
        stderrTailBytes: 8,
        maxStderrLineBytes: 80,
        onStderrLine: (line) => {
          lines.push(line);
          throw new Error("a broken logger");
        },
      });
      await soon(child.pipesClosed, "the end of the pipes");
      await child.ended;
      expect(lines).toEqual(["one", "", `${"0".repeat(80)} … 120 bytes left out`, "thr\ufffde", "last"]);
      expect(Buffer.from(child.stderr.tail()).toString("latin1")).toBe("r\xe9e\nlast".slice(-8));
      expect(child.stderr.byteCount).toBe(5 + 1 + 201 + 6 + 4);
      expect(uncaught).toHaveLength(5);
    } finally {
      process.removeAllListeners("uncaughtException");
      for (const listener of caught) process.on("uncaughtException", listener);
    }
  });

  it("takes a child that closed its input for a normal peer that no longer reads", async () => {
    const { child, recorder } = await opened({
      ...sh(`exec 0<&-; echo '{"closed":true}'; exec sleep 600`),
      containment,
    });
    await recorder.framesCame(1);
    const frame = Buffer.from(`{"a":"${"x".repeat(500_000)}"}`);
    const error = await soon(failure(child.transport.send(frame)), "the failure of send");
    expect(error).toMatchObject({ code: "TRANSPORT_CLOSED", cause: { code: "EPIPE" } });
    expect(recorder.closes).toEqual([]);
  });

  it("settles every `send` when the child dies while its pipe is full", async () => {
    const { child } = await opened({ ...sh("exec sleep 600"), containment });
    const frame = Buffer.from(`{"a":"${"x".repeat(1_000_000)}"}`);
    const sends = Promise.all(Array.from({ length: 8 }, () => failure(child.transport.send(frame))));
    await new Promise(setImmediate);
    process.kill(child.pid, "SIGKILL");
    const errors = await soon(sends, "the sends");
    expect(errors).toMatchObject(errors.map(() => ({ code: "TRANSPORT_CLOSED" })));
    expect(child.transport.queuedBytes).toBeLessThanOrEqual(8_000_100);
    expect(await child.exited).toEqual({ code: null, signal: "SIGKILL" });
  });

  it.each([0, 500])("ends a command that closed its output and runs on (grace of %i ms)", async (inputMs) => {
    const closes = sh("exec 1>&-; exec sleep 600");
    const { child, recorder } = await opened({ ...closes, containment, graceMs: { inputMs } });
    expect(await soon(recorder.closed, "the close")).toMatchObject({ code: "CHILD_CLOSED_OUTPUT" });
    expect(await soon(child.exited, "the exit")).toEqual({ code: null, signal: "SIGTERM" });
    await soon(child.ended, "the end");
  });
});

/** What every user of the machine can read of each process. */
function commandLines(): { readonly pid: number; readonly words: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return [{ pid: Number(name), words: readFileSync(`/proc/${name}/cmdline`, "utf8") }];
      } catch {
        return []; // ended while it was looked at
      }
    });
}
