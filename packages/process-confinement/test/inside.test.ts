import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { readLine, sandboxesOfThisFile } from "./sandboxes.js";

const sandboxes = sandboxesOfThisFile();
const itInside = partTest("bubblewrap");
const itWithPython = partTest("bubblewrap", "python3");
const scratch = mkdtempSync(join(tmpdir(), "berth-inside-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const mib = 2 ** 20;

describe("a sandboxed command", () => {
  itInside("has the listed environment, PWD, and nothing else", async () => {
    const env = { A: "1", b_2: "x\ny", EMPTY: "" };
    const { stdout } = await sandboxes.run({ file: "/usr/bin/env", args: ["-0"], env });
    expect(stdout.split("\0").filter(Boolean).sort()).toEqual(["A=1", "EMPTY=", "PWD=/tmp", "b_2=x\ny"]);
  });

  itInside("gets its arguments as they are", async () => {
    const args = ["", "a b", "--", "$HOME", "'\"", "\n", "ü"];
    const { stdout } = await sandboxes.run({ file: "/usr/bin/printf", args: ["%s\\0", ...args] });
    expect(stdout.split("\0").slice(0, -1)).toEqual(args);
  });

  itInside("has descriptors 0 to 2 and no others", async () => {
    const { stdout } = await sandboxes.run({ script: "for fd in /proc/self/fd/*; do echo $fd; done" });
    // The shell's own listing of the folder is closed again when it prints.
    expect(
      stdout
        .trim()
        .split("\n")
        .map((path) => Number(path.split("/").at(-1))),
    ).toEqual([0, 1, 2, 3]);
  });

  itInside("is a user, on a machine and in a session of its own", async () => {
    const { stdout } = await sandboxes.run({
      script: "id -u; id -un; hostname; ls /proc | grep -c '^[0-9]'; whoami; cat /proc/self/cgroup | wc -c",
    });
    const [uid, user, name, processes] = stdout.split("\n");
    expect([uid, user]).toEqual(["1000", "sandbox"]);
    expect(name).toBe("sandbox");
    expect(name).not.toBe(hostname());
    expect(Number(processes)).toBeLessThan(8);
  });

  itInside("has no capability and cannot gain one", async () => {
    const { stdout } = await sandboxes.run({ script: "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status" });
    const status = Object.fromEntries(
      stdout
        .trim()
        .split("\n")
        .map((line) => line.split(":\t")),
    );
    expect(status).toMatchObject({
      CapInh: "0000000000000000",
      CapPrm: "0000000000000000",
      CapEff: "0000000000000000",
    });
    expect(status).toMatchObject({
      CapBnd: "0000000000000000",
      CapAmb: "0000000000000000",
      NoNewPrivs: "1",
      Seccomp: "2",
    });
  });

  itInside("sees the system read-only, and no file of the host's", async () => {
    const secret = join(scratch, "secret");
    writeFileSync(secret, "secret");
    const places = ["/", "/usr", "/usr/bin", "/etc", "/dev", "/run", "/proc/sys/kernel", "/etc/ssl/certs"];
    const attempts = places.map((place) => `(: >${place}/x) 2>/dev/null && echo wrote ${place}`);
    const script = [
      ...attempts,
      `cat ${secret}`,
      "cat /etc/shadow",
      "ls /root /home /var /sys /boot /srv",
      "ls /etc",
    ].join("\n");
    const { stdout } = await sandboxes.run({ script });
    expect(stdout).not.toMatch(/wrote|secret|shadow|hostname/);
    expect(stdout).toContain("passwd\n");
    expect(readFileSync(secret, "utf8")).toBe("secret");
  });

  itInside("cannot write a setting of the kernel, although its user is root outside", async () => {
    const script = `for f in $(find /proc -xdev -type f ! -path '/proc/[0-9]*'); do (: >>$f) 2>/dev/null && echo wrote $f; done; exec 3</proc/sys/kernel/core_pattern && echo read`;
    const { stdout } = await sandboxes.run({ script });
    expect(stdout).toBe("read\n");
  });

  itWithPython(
    "cannot change the mode or the times of the machine's devices, and can read and write them",
    async () => {
      const python = `
import os
def tried(act):
    try: act(); return "done"
    except OSError as error: return error.errno
paths = ["/dev/" + name for name in ("null", "zero", "full", "random", "urandom", "tty")]
print(*{tried(lambda: os.chmod(path, 0o666)) for path in paths}, *{tried(lambda: os.utime(path, (0, 0))) for path in paths})
print(os.write(os.open("/dev/null", os.O_RDWR), b"x"), len(open("/dev/zero", "rb").read(3)), len(open("/dev/urandom", "rb").read(3)))
`;
      const [EPERM, EROFS] = [1, 30];
      const { stdout } = await sandboxes.run({ python });
      const refused = process.getuid?.() === 0 ? EROFS : EPERM;
      expect(stdout).toBe(`${refused} ${refused}\n1 3 3\n`);
    },
  );

  itInside("cannot make its root writable again", async () => {
    const { stdout } = await sandboxes.run({ script: "mount -o remount,rw / 2>&1; unshare -Ur true 2>&1; echo $?" });
    expect(stdout).not.toMatch(/^0$/m);
  });

  itInside("reaches neither the host's loopback nor its abstract sockets", async () => {
    const listener = createServer((socket) => socket.end("reached"));
    await new Promise<void>((resolve) => void listener.listen(0, "127.0.0.1", resolve));
    const address = listener.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const python = `
import socket, sys
def reach(family, address):
    with socket.socket(family) as s:
        try: s.connect(address); return "reached"
        except OSError as error: return type(error).__name__
print(reach(socket.AF_INET, ("127.0.0.1", ${port})), reach(socket.AF_UNIX, "\\0berth-test"), open("/proc/net/unix").read().count("\\n"))
`;
    const { stdout } = await sandboxes.run({ python });
    listener.close();
    expect(stdout).toBe("ConnectionRefusedError ConnectionRefusedError 1\n");
  });
});

describe("what may be written", () => {
  itInside("is bounded in memory: /tmp, /dev/shm and a memory workspace each end with ENOSPC", async () => {
    const fill = (path: string): string => `dd if=/dev/zero of=${path}/x bs=64k count=64 2>&1 | grep -c 'No space'`;
    const { stdout } = await sandboxes.run({
      script: [fill("/tmp"), fill("/dev/shm"), fill("/workspace"), "stat -c %s /tmp/x /dev/shm/x /workspace/x"].join(
        "\n",
      ),
      policy: { tmpBytes: mib, workspace: { kind: "memory", maxBytes: 2 * mib } },
    });
    expect(stdout).toBe(`1\n1\n1\n${mib}\n${mib}\n${2 * mib}\n`);
  });

  itInside("is a folder that outlives it, and its files belong to the host's user", async () => {
    const source = join(scratch, "workspace");
    mkdirSync(source);
    const { exit } = await sandboxes.run({
      script: "pwd >name; echo x >/srv/other/y; echo no >/srv/read/z",
      policy: {
        workspace: { kind: "folder", source, target: "/work" },
        readWrite: [{ source, target: "/srv/other" }],
        readOnly: [{ source, target: "/srv/read" }],
      },
    });
    expect(exit.code).not.toBe(0);
    expect(readFileSync(join(source, "name"), "utf8")).toBe("/work\n");
    expect(readFileSync(join(source, "y"), "utf8")).toBe("x\n");
    expect(() => readFileSync(join(source, "z"))).toThrow("ENOENT");
  });
});

describe("what other users of the machine can read of it", () => {
  itInside("is the command's own arguments, and no variable, value or bound path", async () => {
    const source = join(scratch, "hidden-folder");
    mkdirSync(source);
    const sandbox = await sandboxes.open({
      script: "echo up; read x",
      env: { PATH: "/usr/bin", SECRET_NAME: "secret-value" },
      policy: { readOnly: [{ source, target: "/opt/bound" }] },
    });
    expect(await readLine(sandbox.stdout)).toBe("up");
    const { outer, init } = sandbox.identity;
    for (const pid of [outer.pid, init.pid]) {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      expect(line).not.toMatch(/SECRET_NAME|secret-value|hidden-folder|bound/);
    }
    expect(readFileSync(`/proc/${outer.pid}/environ`, "utf8")).toBe("PWD=/\0");
  });
});

describe("the handshake by the command itself", () => {
  const agent = `
import os
os.write(4, b"r\\n")
if os.read(3, 3) != b"go\\n": os._exit(125)
os.closerange(3, 256)
print(os.getpid(), sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1], flush=True)
`;
  itWithPython("leaves it with descriptors 0 to 2, as process 1 when it asks for that", async () => {
    const first = await sandboxes.run({ python: agent, handshake: "command", asPid1: true });
    const second = await sandboxes.run({ python: agent, handshake: "command" });
    expect([first.stdout, second.stdout]).toEqual(["1 [0, 1, 2]\n", "2 [0, 1, 2]\n"]);
  });

  itWithPython("is let go only after it was recorded", async () => {
    const events: string[] = [];
    const sandbox = await sandboxes.open({
      python: agent,
      handshake: "command",
      record: async (identity) => {
        await new Promise(setImmediate);
        events.push(`recorded ${identity.name.startsWith("test-")}`);
      },
    });
    events.push(await readLine(sandbox.stdout));
    expect(events).toEqual(["recorded true", "2 [0, 1, 2]"]);
  });
});
