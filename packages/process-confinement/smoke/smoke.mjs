// The contract in short, on every Node that the package promises to run on.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { endSandbox, findInterpreter, findSandbox, isConfinementError, openSandbox } from "@berth/process-confinement";
import { confine } from "@berth/process-confinement/launcher";

const skip = spawnSync("bwrap", ["--version"]).status === 0 ? false : "needs bubblewrap: apt-get install bubblewrap";
const shell = { policy: {}, file: "/bin/sh", env: { PATH: "/usr/bin:/bin" } };
const name = (part) => `smoke-${process.pid}-${part}`;

async function read(stream) {
  let text = "";
  for await (const chunk of stream) text += chunk;
  return text;
}

test("a command runs, what it says is kept, and its status is told", { skip }, async () => {
  const script = "echo out; echo err >&2; exit 3";
  const sandbox = await openSandbox({ ...shell, name: name("run"), args: ["-c", script] });
  // Read after its exit, when Node throws away what it takes for unwanted.
  assert.equal((await sandbox.exited).code, 3);
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  assert.deepEqual([await read(sandbox.stdout), await read(sandbox.stderr)], ["out\n", "err\n"]);
  await sandbox.close();
});

test("a large answer arrives whole, and input reaches the command", { skip }, async () => {
  const sandbox = await openSandbox({ ...shell, name: name("pipe"), args: ["-c", "cat; seq 200000"] });
  sandbox.stdin.end("first\n");
  const lines = (await read(sandbox.stdout)).trimEnd().split("\n");
  assert.deepEqual([lines[0], lines.length, lines.at(-1)], ["first", 200_001, "200000"]);
  assert.equal((await sandbox.exited).reason, "exited");
});

test("close ends the whole family, and it is gone", { skip }, async () => {
  const script = "trap '' TERM; setsid sleep 600 & while :; do sleep 60; done";
  const sandbox = await openSandbox({ ...shell, name: name("close"), args: ["-c", script], graceMs: 20 });
  assert.equal(findSandbox(sandbox.identity), "running");
  await Promise.all([sandbox.close(), sandbox.close()]);
  assert.equal(findSandbox(sandbox.identity), "gone");
  assert.equal((await sandbox.exited).reason, "closed");
});

test("a recorded sandbox is ended by its record", { skip }, async () => {
  let identity;
  const record = (given) => {
    identity = JSON.parse(JSON.stringify(given));
  };
  const sandbox = await openSandbox({ ...shell, name: name("record"), args: ["-c", "read x"], record });
  assert.equal(await endSandbox(identity), "gone");
  assert.equal((await sandbox.exited).reason, "killed");
});

test("an aborted start leaves nothing", { skip }, async () => {
  const aborting = new AbortController();
  const command = { file: "/bin/sleep", args: ["600"], handshake: "command" };
  const opening = openSandbox({ ...shell, ...command, name: name("abort"), signal: aborting.signal });
  setImmediate(() => aborting.abort(new Error("no longer wanted")));
  await assert.rejects(opening, { message: "no longer wanted" });
});

test("a command line confines itself", { skip }, async () => {
  const policy = { name: "smoke", readable: [], writable: [], network: "none", cwd: "/tmp" };
  const command = ["/bin/sh", "-c", "cat; ls /home; exit 3"];
  const [file, ...args] = (await confine(command, policy)).argv;
  const { status, stdout, stderr } = spawnSync(file, args, { input: "in", env: shell.env, encoding: "utf8" });
  assert.deepEqual([status, stdout], [3, "in"]);
  assert.match(stderr, /No such file/);
});

test("faults are refused with their code", async () => {
  const refused = (options, code) =>
    assert.rejects(openSandbox({ ...shell, name: name("fault"), args: [], ...options }), (error) => {
      return isConfinementError(error) && error.code === code;
    });
  if (skip !== false) return;
  await refused({ policy: { readOnly: [{ source: "/proc" }] } }, "POLICY_INVALID");
  await refused({ name: "a b" }, "SANDBOX_OPTION_INVALID");
  await refused({ file: "/nowhere/x" }, "PATH_NOT_FOUND");
  assert.throws(() => findInterpreter("/bin/sh"), { code: "INTERPRETER_NOT_FOUND" });
});

test("a worker thread is refused", async () => {
  const source = `
    const { parentPort } = require("node:worker_threads");
    import(${JSON.stringify(import.meta.resolve("@berth/process-confinement"))})
      .then(({ openSandbox }) => openSandbox({}))
      .catch((error) => parentPort.postMessage(error.code));
  `;
  const worker = new Worker(source, { eval: true });
  const code = await new Promise((resolve) => worker.once("message", resolve));
  assert.equal(code, "SPAWN_FROM_WORKER");
  await worker.terminate();
});
