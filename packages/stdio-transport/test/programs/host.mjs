// A host that starts one child and waits to be killed; runs from the built package. Arguments: FILE CONTAINMENT REGISTRY TOKEN.
// It says `{"spawning":true}`, then `{"pid":…,"supervisor":…}`. Everything that it starts bears TOKEN in its environment.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { openChild } from "@berth/stdio-transport";

const [, , file, containment, registry, token] = process.argv;
const env = { PATH: process.env.PATH, TOKEN: token };
const marked = (launcher, args, options) =>
  spawn(launcher, args, { ...options, env: { ...options.env, TOKEN: token } });
process.stdout.write('{"spawning":true}\n');
const child = await openChild({ file, args: [], env, containment, registry, spawn: marked });
child.transport.start({
  onFrame: () => {
    const supervisor = Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))[1]);
    process.stdout.write(`${JSON.stringify({ pid: child.pid, supervisor })}\n`);
  },
  onFault: () => undefined,
  onClose: () => undefined,
});
setInterval(() => undefined, 1_000);
