// The supervisor for machines without Perl, through the inner `openChildOn`: a machine on which Perl is not found.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openChildOn } from "../src/child.js";
import { type HostSystem, thisHost } from "../src/host-system.js";
import type { ChildHandle, ChildOptions } from "../src/index.js";
import { PATH, sh } from "./children.js";
import { bytes, createRecorder, failure, soon } from "./recorder.js";
import { transportContract } from "./transport.contract.js";

const withoutPerl: HostSystem = { ...thisHost(), findTool: () => undefined };
const scratch = mkdtempSync(join(tmpdir(), "berth-shell-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const open = (options: Partial<ChildOptions> & { file: string }): Promise<ChildHandle> =>
  openChildOn(withoutPerl, { args: [], env: { PATH }, ...options });

transportContract("a child that a shell holds", async (limits) => {
  const child = await open({ ...limits, file: "cat" });
  return {
    transport: child.transport,
    stall: () => process.kill(child.pid, "SIGSTOP"),
    unstall: () => process.kill(child.pid, "SIGCONT"),
    dispose: () => child.kill(),
  };
});

describe("a shell as supervisor", () => {
  it("passes arguments, values and the exit on, and not the control channel", async () => {
    const child = await open({
      ...sh(
        'echo "{\\"args\\":\\"$1|$2\\",\\"odd\\":\\"$ODD\\",\\"control\\":$([ -S /proc/$$/fd/3 ] && echo true || echo false)}"; env >&2; exit 7',
        "a b",
        "$x;`id`",
      ),
      env: { PATH, ODD: "1 2" },
    });
    const recorder = createRecorder();
    child.transport.start(recorder);
    expect(await soon(child.exited, "the exit")).toEqual({ code: 7, signal: null });
    await soon(child.ended, "the end");
    await soon(recorder.closed, "the close");
    expect(JSON.parse(recorder.frames[0] ?? "")).toEqual({ args: "a b|$x;`id`", odd: "1 2", control: false });
    const names = Buffer.from(child.stderr.tail())
      .toString()
      .split("\n")
      .map((line) => line.split("=")[0]);
    expect(names.filter((name) => name !== "" && name !== "_" && name !== "PWD").toSorted()).toEqual(["ODD", "PATH"]);
    expect(child.containment).toBe("group");
  });

  it("tells the signal by which the command ended", async () => {
    const child = await open(sh("kill -s SEGV $$"));
    expect(await soon(child.exited, "the exit")).toEqual({ code: null, signal: "SIGSEGV" });
    await soon(child.ended, "the end");
  });

  it("ends the whole group in stages, the command without a handler by SIGTERM", async () => {
    const child = await open({ file: "sleep", args: ["1000"], graceMs: { inputMs: 0, terminateMs: 60_000 } });
    await soon(child.close(), "the end");
    expect(await child.exited).toEqual({ code: null, signal: "SIGTERM" });
    const deaf = await open({
      ...sh("trap '' TERM; (trap '' TERM; sleep 1000) & echo '{}'; while :; do sleep 1; done"),
      graceMs: { inputMs: 0, terminateMs: 50 },
    });
    const recorder = createRecorder();
    deaf.transport.start(recorder);
    await recorder.framesCame(1);
    await soon(deaf.close(), "the end of the deaf");
    expect(await deaf.exited).toEqual({ code: null, signal: "SIGKILL" });
  });

  it("ends what holds the pipes after the command has exited", async () => {
    const child = await open({ ...sh("sleep 1000 & exit 0"), graceMs: { terminateMs: 60_000 } });
    child.transport.start(createRecorder());
    await soon(child.ended, "the end");
    await soon(child.pipesClosed, "the close of the pipes");
  });

  it("needs no grace when nobody is left", async () => {
    const child = await open({ file: "cat", graceMs: { inputMs: 60_000, terminateMs: 60_000 } });
    await soon(child.close(), "the end");
    expect(await child.exited).toEqual({ code: 0, signal: null });
  });

  it.each([
    { name: "a file that is absent", file: "/nonexistent/server", reason: "ENOENT" },
    { name: "a name that is not in PATH", file: "berth-no-such-program", reason: "ENOENT" },
    { name: "a file that is not executable", file: "/etc/passwd", reason: "EACCES" },
    { name: "a folder", file: "/tmp", reason: "EACCES" },
  ])("says why it did not start $name", async ({ file, reason }) => {
    expect(await failure(open({ file }))).toMatchObject({ code: "CHILD_NOT_STARTED", reason });
  });

  it("refuses what a shell cannot pass on, with advice", async () => {
    for (const odd of [{ argv0: "other" }, { env: { PATH, "odd.name": "1" } }]) {
      const error = await failure(open({ file: "/bin/cat", ...odd }));
      expect(error).toMatchObject({ code: "OPTION_INVALID", message: expect.stringContaining("perl") });
    }
  });

  it("starts a file with an odd name in its working folder", async () => {
    const file = join(scratch, "a 'file' $x");
    writeFileSync(file, '#!/bin/sh\nread -r line && echo "$line"\n', { mode: 0o755 });
    const child = await open({ file: "./a 'file' $x", cwd: scratch });
    const recorder = createRecorder();
    child.transport.start(recorder);
    await child.transport.send(bytes('{"n":1}'));
    await recorder.framesCame(1);
    await soon(child.close(), "the end");
  });
});
