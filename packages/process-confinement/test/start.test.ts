import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { listProcesses, readStat } from "../src/identity/process-identity.js";
import {
  findSandbox,
  isConfinementError,
  openSandbox,
  type SandboxIdentity,
  type SandboxOptions,
} from "../src/index.js";
import { openSandboxOn } from "../src/open-sandbox.js";
import { type ConfinementHost, thisHost } from "../src/start/host.js";

import { readAll } from "./sandboxes.js";

const itInside = partTest("bubblewrap");
const scratch = mkdtempSync(join(tmpdir(), "berth-start-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const shell: SandboxOptions = { name: "start", policy: {}, file: "/bin/sh", args: ["-c", "exit 0"], env: {} };
const children = (): readonly number[] => listProcesses().filter((pid) => readStat(pid)?.parent === process.pid);

/** The fault of a start, which must leave no process of ours. */
async function faultOf(options: Partial<SandboxOptions>, host = thisHost()): Promise<unknown> {
  const before = children();
  const fault: unknown = await openSandboxOn(host, { ...shell, ...options }).then(
    (sandbox) => sandbox.kill(),
    (error: unknown) => error,
  );
  expect(children().filter((pid) => !before.includes(pid))).toEqual([]);
  return fault;
}

/** This machine, with another bubblewrap. */
const withBubblewrap = (file: string): ConfinementHost => ({
  ...thisHost(),
  findTool: (name) => (name === "bwrap" ? file : thisHost().findTool(name)),
});

describe("a start is refused", () => {
  it.each([
    { title: "a flag that is none", options: JSON.parse('{"asPid1":"yes"}'), field: "asPid1" },
    { title: "a recorder that is none", options: JSON.parse('{"record":"file"}'), field: "record" },
    { title: "an unknown option", options: JSON.parse('{"nmae":"x"}'), field: "nmae" },
    { title: "a name with a slash", options: { name: "a/b" }, field: "name" },
    { title: "an empty name", options: { name: "" }, field: "name" },
    { title: "a relative file", options: { file: "sh" }, field: "file" },
    { title: "an argument with NUL", options: { args: ["a\0b"] }, field: "args[0]" },
    { title: "a variable that a shell would drop", options: { env: { "A B": "" } }, field: "env" },
    { title: "a value with NUL", options: { env: { A: "a\0b" } }, field: "env.A" },
    { title: "a relative folder to work in", options: { cwd: "x" }, field: "cwd" },
    { title: "an unknown handshake", options: JSON.parse('{"handshake":"none"}'), field: "handshake" },
    { title: "no time", options: { startTimeoutMs: 0 }, field: "startTimeoutMs" },
    { title: "a negative grace", options: { graceMs: -1 }, field: "graceMs" },
  ])("for $title", async ({ options, field }) => {
    expect(await faultOf(options)).toMatchObject({ code: "SANDBOX_OPTION_INVALID", field });
  });

  it("never with a secret in the message", async () => {
    for (const options of [{ args: ["secret\0"] }, { env: { A: "secret\0" } }])
      expect(String(await faultOf(options))).not.toContain("secret");
  });

  it("for a program that is not there or cannot be executed", async () => {
    for (const file of ["/nowhere/x", "/etc/passwd", "/usr"])
      expect(await faultOf({ file })).toMatchObject({ code: "PATH_NOT_FOUND", field: "file" });
  });

  it("in a worker thread, elsewhere than on Linux, and without bubblewrap", async () => {
    const host = thisHost();
    expect(await faultOf({}, { ...host, isMainThread: false })).toMatchObject({ code: "SPAWN_FROM_WORKER" });
    expect(await faultOf({}, { ...host, platform: "darwin" })).toMatchObject({ code: "PLATFORM_UNSUPPORTED" });
    expect(await faultOf({}, { ...host, arch: "s390x" })).toMatchObject({ code: "PLATFORM_UNSUPPORTED" });
    const fault = await faultOf({}, { ...host, findTool: () => undefined });
    expect(fault).toMatchObject({ code: "CONFINEMENT_UNAVAILABLE", cure: "install it: apt-get install bubblewrap" });
    expect(isConfinementError(fault)).toBe(true);
  });

  itInside("where user namespaces are switched off, with the cure", async () => {
    const refusing = join(scratch, "bwrap-refusing");
    // What bubblewrap 0.8 itself says and does inside `bwrap --unshare-user --disable-userns`.
    writeFileSync(
      refusing,
      '#!/bin/sh\nexec /usr/bin/bwrap --unshare-user --disable-userns --dev-bind / / /usr/bin/bwrap "$@"\n',
    );
    chmodSync(refusing, 0o755);
    const fault = await faultOf({}, withBubblewrap(refusing));
    expect(fault).toMatchObject({
      code: "CONFINEMENT_UNAVAILABLE",
      message: expect.stringMatching(/no further user namespace may be made.*bwrap: /),
      cure: expect.stringContaining("max_user_namespaces"),
    });
  });
});

describe("an older bubblewrap", () => {
  partTest("bubblewrap", "python3")("does without --disable-userns, since the filter refuses the same", async () => {
    const older = join(scratch, "bwrap-0.7");
    writeFileSync(older, olderBubblewrap);
    chmodSync(older, 0o755);
    const args = ["-c", "unshare -U true 2>/dev/null && echo made one; echo ran"];
    const options = { ...shell, args, env: { PATH: "/usr/bin" } };
    const sandbox = await openSandboxOn(withBubblewrap(older), options);
    expect(await readAll(sandbox.stdout)).toBe("ran\n");
    await sandbox.close();
  });
});

/** Knows the option as little as one of 0.7 does. */
const olderBubblewrap = `#!/usr/bin/python3 -IS
import os, sys
chunks = []
while chunk := os.read(5, 65536): chunks.append(chunk)
given = b"".join(chunks)
if b"--disable-userns" in given: sys.exit("bwrap: Unknown option --disable-userns")
reader, writer = os.pipe()
os.write(writer, given)
os.close(writer)
os.dup2(reader, 5)
os.execv("/usr/bin/bwrap", ["bwrap", *sys.argv[1:]])
`;

describe("a start that fails", () => {
  itInside("tells what the kernel said of the program", async () => {
    const broken = join(scratch, "broken");
    writeFileSync(broken, "#!/nowhere/interpreter\n");
    chmodSync(broken, 0o755);
    for (const handshake of ["shell", "command"] as const) {
      const fault = await faultOf({ file: broken, handshake });
      expect(fault).toMatchObject({ code: "SANDBOX_NOT_STARTED", message: expect.stringContaining(broken) });
    }
  });

  itInside("tells what bubblewrap said of a folder to work in that is not there", async () => {
    const fault = await faultOf({ cwd: "/srv/nowhere" });
    expect(fault).toMatchObject({ code: "SANDBOX_NOT_STARTED", message: expect.stringContaining("chdir") });
  });

  itInside("because the command does not speak, takes too long or exits, leaves nothing", async () => {
    const silent = { file: "/bin/sleep", args: ["600"], handshake: "command" } as const;
    expect(await faultOf({ ...silent, startTimeoutMs: 100 })).toMatchObject({ code: "START_TIMEOUT" });
    expect(await faultOf({ handshake: "command", args: ["-c", "exit 4"] })).toMatchObject({
      code: "SANDBOX_NOT_STARTED",
    });
    const reason = new Error("no longer wanted");
    expect(await faultOf({ ...silent, signal: AbortSignal.abort(reason) })).toBe(reason);
    const aborting = new AbortController();
    const fault = faultOf({ ...silent, signal: aborting.signal });
    setImmediate(() => aborting.abort(reason));
    expect(await fault).toBe(reason);
  });

  itInside("because it could not be recorded leaves nothing, and nothing of the command ran", async () => {
    let identity: SandboxIdentity | undefined;
    const marker = join(scratch, "ran");
    const reason = new Error("disk full");
    const fault = await faultOf({
      args: ["-c", `: >/workspace/ran`],
      policy: { workspace: { kind: "folder", source: scratch }, limits: { processes: 10 } },
      record: (given) => {
        identity = given;
        throw reason;
      },
    });
    expect(fault).toBe(reason);
    if (identity === undefined) throw new Error("it was not recorded");
    expect(findSandbox(identity)).toBe("gone");
    for (const group of identity.controlGroups) expect(() => readdirSync(group)).toThrow("ENOENT");
    expect(() => readdirSync(marker)).toThrow("ENOENT");
  });

  itInside("when a second one has the name, and its limits, of a living one", async () => {
    const limits = { processes: 20 };
    const first = await openSandbox({ ...shell, args: ["-c", "read x"], policy: { limits } });
    expect(await faultOf({ policy: { limits } })).toMatchObject({ code: "SANDBOX_NOT_STARTED", field: "name" });
    expect(findSandbox(first.identity)).toBe("running");
    await first.kill();
  });

  itInside("because a source was replaced between the look and the mount", async () => {
    const [good, evil, moved] = [join(scratch, "good"), join(scratch, "evil"), join(scratch, "moved")];
    for (const folder of [good, evil]) mkdirSync(folder);
    const opening = openSandbox({ ...shell, policy: { readOnly: [{ source: good, target: "/srv/x" }] } });
    // The source was looked at by now, and bubblewrap has not been told to mount it yet.
    renameSync(good, moved);
    symlinkSync(evil, good);
    await expect(opening).rejects.toMatchObject({
      code: "SANDBOX_NOT_STARTED",
      message: expect.stringContaining("replaced"),
    });
  });

  for (const [by, replace] of [
    ["another folder", (path: string) => mkdirSync(path)],
    ["nothing", () => {}],
  ] as const) {
    itInside(`because a source was replaced by ${by} while the sandbox was recorded`, async () => {
      const [good, out] = [mkdtempSync(join(scratch, "good-")), mkdtempSync(join(scratch, "out-"))];
      const policy = {
        readOnly: [{ source: good, target: "/srv/x" }],
        readWrite: [{ source: out, target: "/srv/out" }],
      };
      const record = (): void => {
        renameSync(good, `${good}-moved`);
        replace(good);
      };
      expect(await faultOf({ policy, args: ["-c", "echo >/srv/out/ran"], record })).toMatchObject({
        code: "SANDBOX_NOT_STARTED",
        message: expect.stringContaining("replaced"),
      });
      expect(readdirSync(out)).toEqual([]);
    });
  }
});
