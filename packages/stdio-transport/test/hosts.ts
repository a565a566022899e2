import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach } from "vitest";
import { bearersOf } from "./living.js";

/** A host process of its own, whose child makes a family that ignores SIGTERM. */
export interface Host {
  readonly registry: string;
  /** Every process of it and of its child bears this text. */
  readonly token: string;
  /** The next line that it says. */
  said(): Promise<{ readonly pid: number; readonly supervisor: number }>;
  /** SIGKILL; resolves when it has ended. */
  kill(): Promise<void>;
}

/** Starts hosts for the tests of one file; whatever of them is left after a test is killed. */
export function hostsOfThisFile(): (containment: "auto" | "group") => Host {
  const scratch = mkdtempSync(join(tmpdir(), "berth-hosts-"));
  const tokens: string[] = [];
  afterEach(() => {
    for (const pid of tokens.splice(0).flatMap(bearersOf)) kill(pid);
  });
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));
  return (containment) => {
    const token = randomUUID();
    tokens.push(token);
    const file = join(scratch, `command-${token}`);
    // In its name too, since a supervisor shows the command's name in place of its own environment.
    writeFileSync(file, family);
    chmodSync(file, 0o755);
    const registry = join(scratch, `registry-${token}`);
    const host = spawn(process.execPath, [program, file, containment, registry, token], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    return { registry, token, said: lineReader(host), kill: () => killed(host) };
  };
}

const program = fileURLToPath(new URL("programs/host.mjs", import.meta.url));
/** One process in the group, one that left the session and whose parent is gone, all deaf to SIGTERM. */
const family = `#!/bin/sh
trap '' TERM
sleep 600 &
(setsid sleep 601 </dev/null >/dev/null 2>&1 &)
echo '{"up":true}'
wait
`;

function lineReader(host: ChildProcess): Host["said"] {
  if (host.stdout === null) throw new Error("no stdout");
  const lines: Interface = createInterface({ input: host.stdout });
  const iterator = lines[Symbol.asyncIterator]();
  return async () => {
    const { value, done } = await iterator.next();
    if (done === true) throw new Error("the host ended");
    return JSON.parse(value);
  };
}

async function killed(host: ChildProcess): Promise<void> {
  const ended = once(host, "exit");
  host.kill("SIGKILL");
  await ended;
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it ended meanwhile
  }
}
