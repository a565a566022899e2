import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import type { ConfineCommand, LaunchPolicy } from "../../src/launcher/index.js";
import { readAll, readLine } from "../sandboxes.js";

const itInside = partTest("bubblewrap");
// The built one: what it starts lies beside it.
const { confine }: { readonly confine: ConfineCommand } = await import("@berth/process-confinement/launcher");

interface Place {
  readonly folder: string;
  readonly readable: string;
  readonly writable: string;
  readonly secret: string;
}

function makePlace(): Place {
  const folder = mkdtempSync("/tmp/berth-launcher-");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [readable, writable, secret] = [join(folder, "read"), join(folder, "write"), join(folder, "secret")];
  mkdirSync(readable);
  mkdirSync(writable, { mode: 0o777 });
  writeFileSync(join(readable, "file"), "to read");
  writeFileSync(secret, "nobody else's");
  return { folder, readable, writable, secret };
}

interface Started {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<number | null>;
}

/** As whoever is handed the argv would spawn it. */
async function start(command: readonly string[], policy: Partial<LaunchPolicy> = {}, env = {}): Promise<Started> {
  const whole = { name: "test", readable: [], writable: [], network: "none", cwd: "/tmp", ...policy } as const;
  const { argv } = await confine(command, whole);
  const [file = "", ...args] = argv;
  const child = spawn(file, args, { env: { PATH: "/usr/bin:/bin", ...env }, stdio: ["pipe", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return {
    child,
    ended: once(child, "close").then(([code]: readonly unknown[]) => (typeof code === "number" ? code : null)),
  };
}

async function run(script: string, policy?: Partial<LaunchPolicy>, env?: object, shell = "/bin/sh") {
  const { child, ended } = await start([shell, "-c", script], policy, env);
  child.stdin.end();
  const [stdout, stderr, code] = await Promise.all([readAll(child.stdout), readAll(child.stderr), ended]);
  return { stdout, stderr, code };
}

describe("a launched command", () => {
  itInside("reads and writes what its policy names, and nothing else", async () => {
    const { folder, readable, writable, secret } = makePlace();
    const script = `cat ${readable}/file; pwd; echo ours > ${writable}/file
      (: > ${readable}/new) 2>/dev/null && echo wrote; : > ${folder}/new; cat ${secret} || exit 7`;
    const ran = await run(script, { readable: [readable], writable: [writable], cwd: writable });
    expect(ran).toEqual({ stdout: `to read${writable}\n`, stderr: expect.stringContaining("No such file"), code: 7 });
    expect(readFileSync(join(writable, "file"), "utf8")).toBe("ours\n");
    expect(readdirSync(folder), "its /tmp is its own").toEqual(["read", "secret", "write"]);
  });

  itInside("reaches no listener of this machine", async () => {
    const server = createServer((socket) => socket.end("hello")).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const script = `exec 3<>/dev/tcp/127.0.0.1/${port} && echo reached`;
    const { stdout, stderr, code } = await run(script, {}, {}, "/bin/bash");
    expect([stdout, stderr, code]).toEqual(["", expect.stringContaining("refused"), 1]);
  });

  itInside("has the environment of its launcher, descriptors 0 to 2, and none that was handed down", async () => {
    const { argv } = await confine(["/bin/sh", "-c", "env; ls /proc/self/fd"], {
      ...{ name: "test", readable: [], writable: [], network: "none", cwd: "/tmp" },
    });
    const child = spawn("/bin/sh", ["-c", 'exec "$@" 9</etc/hosts', "sh", ...argv], { env: { ONLY: "this" } });
    const [stdout] = await Promise.all([readAll(child.stdout), once(child, "close")]);
    // ls has its own, of the folder.
    expect(stdout.trim().split("\n").sort()).toEqual(["0", "1", "2", "3", "ONLY=this", "PWD=/tmp"]);
  });

  itInside("gets and gives all bytes in order, also more than pipes hold, and hears the end of its input", async () => {
    const { child, ended } = await start(["/bin/cat"]);
    const bytes = randomBytes(3_000_000);
    child.stdin.end(bytes);
    const chunks: Buffer[] = [];
    for await (const chunk of child.stdout) chunks.push(chunk);
    expect([Buffer.concat(chunks).equals(bytes), await ended]).toEqual([true, 0]);
  });

  itInside("that does not read its input ends as it would without a launcher", async () => {
    const { child, ended } = await start(["/bin/sh", "-c", "exit 5"]);
    child.stdin.on("error", () => {}); // nobody reads it any more
    child.stdin.write(randomBytes(1_000_000));
    expect(await ended).toBe(5);
  });

  itInside("that a signal ended is told as a shell does", async () => {
    expect(await run("kill -KILL $$")).toMatchObject({ code: 137 });
  });
});

describe("the launcher", () => {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    itInside(`hands ${signal} on as SIGTERM, and ends with what the command says`, async () => {
      const { child, ended } = await start([
        "/bin/sh",
        "-c",
        "trap 'exit 4' TERM; echo up; while :; do read x || sleep 0.05; done",
      ]);
      expect(await readLine(child.stdout)).toBe("up");
      child.kill(signal);
      expect(await ended).toBe(4);
    });
  }

  itInside("ends the command when nobody reads its output any more", async () => {
    const { child, ended } = await start(["/usr/bin/yes"]);
    expect(await readLine(child.stdout)).toBe("y");
    child.stdout.destroy();
    expect(await ended).not.toBe(0);
  });

  itInside("that is killed leaves no process", async () => {
    const { folder, readable } = makePlace();
    const { child, ended } = await start(["/bin/sh", "-c", `: ${folder}; echo up; sleep 600 & wait`], {
      readable: [readable],
    });
    expect(await readLine(child.stdout)).toBe("up");
    expect(processesOf(folder).length).toBeGreaterThan(2);
    child.kill("SIGKILL");
    await ended;
    await expect.poll(() => processesOf(folder), { timeout: 5_000, interval: 5 }).toEqual([]);
  });

  itInside("tells why nothing was started, and ends with 126", async () => {
    const { folder, readable } = makePlace();
    const missing = join(folder, "missing");
    const gone = await run("echo ran", { name: "plugin p", readable: [missing] });
    expect(gone).toMatchObject({
      stdout: "",
      stderr: expect.stringMatching(/^plugin p: readOnly\[0\]\.source/u),
      code: 126,
    });
    const inside = await run("echo ran", { readable: [folder], writable: [readable] });
    expect(inside).toMatchObject({ stdout: "", stderr: expect.stringMatching(/hides, or lies below/u), code: 126 });
  });

  itInside("runs nothing for whoever calls it by hand", async () => {
    const { argv } = await confine(["/bin/true"], {
      ...{ name: "test", readable: [], writable: [], network: "none", cwd: "/tmp" },
    });
    const child = spawn(process.execPath, [argv[1] ?? "", "{}", "/bin/echo", "ran"]);
    const [stdout, stderr, [code]] = await Promise.all([
      readAll(child.stdout),
      readAll(child.stderr),
      once(child, "close"),
    ]);
    expect([stdout, stderr, code]).toEqual(["", expect.stringContaining("what `confine` gives only"), 126]);
  });
});

/** Commands of living processes that name a folder. */
function processesOf(folder: string): readonly string[] {
  const numbers = readdirSync("/proc").filter((name) => /^\d+$/u.test(name));
  return numbers.map(commandOf).filter((command) => command.includes(folder));
}

function commandOf(number: string): string {
  try {
    return readFileSync(`/proc/${number}/cmdline`, "utf8");
  } catch {
    return ""; // it ended meanwhile
  }
}
