import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { readHierarchies } from "../src/limits/hierarchies.js";
import { mayWrite, thisLimitsHost } from "../src/limits/limits-host.js";
import { uniqueName } from "./sandboxes.js";

const program = fileURLToPath(new URL("programs/prepared-host.mjs", import.meta.url));
const kills = scaledCount("hosts with prepared sandboxes killed", 800);
const joinAndBecome = 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"';

/** A control group of version 2 in which a host and all that it starts stay: what is left of them is counted there. */
function groupOfHost(): string | undefined {
  const tree = readHierarchies(thisLimitsHost()).find(({ version }) => version === 2);
  return tree !== undefined && mayWrite(tree.own) ? `${tree.own}/${uniqueName()}` : undefined;
}

const isPopulated = (group: string): boolean => readFileSync(`${group}/cgroup.events`, "utf8").includes("populated 1");

interface Host {
  /** Waits until it has said so many lines. */
  until(lines: number): Promise<void>;
  /** Kills it, and waits until nothing of it is left; tells how many lines it had said. */
  kill(): Promise<number>;
}

function startHost(group: string): Host {
  const command = [process.execPath, program, "death", "2", "open"];
  const child = spawn("/bin/sh", ["-c", joinAndBecome, "sh", group, ...command], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said: string[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => void said.push(line));
  return {
    until: async (count) => {
      while (said.length < count) await once(lines, "line", { signal: AbortSignal.timeout(20_000) });
    },
    kill: async () => {
      const ended = once(child, "close");
      child.kill("SIGKILL");
      await ended;
      await expect.poll(() => isPopulated(group), { timeout: 5_000, interval: 5 }).toBe(false);
      return said.length;
    },
  };
}

/** From the beginning of a host until its command runs. */
async function openedMs(group: string): Promise<number> {
  const host = startHost(group);
  await host.until(1);
  const begun = performance.now();
  await host.until(3);
  const tookMs = performance.now() - begun;
  await host.kill();
  return tookMs;
}

it(`the death of a host leaves nothing of prepared sandboxes, made, waiting or opened (${kills} hosts)`, async (context) => {
  const group = groupOfHost();
  if (group === undefined || !existsSync("/usr/bin/bwrap"))
    return context.skip("needs bubblewrap, and control groups of version 2");
  mkdirSync(group);
  try {
    const longestMs = 2 * (await openedMs(group));
    const said: number[] = [];
    for (let n = 0; n < kills; n++) {
      const host = startHost(group);
      await host.until(1);
      await pause(Math.random() * longestMs); // the moment is what is tested
      said.push(await host.kill());
    }
    const [begun, ready, opened] = [1, 2, 3].map((lines) => said.filter((count) => count === lines).length);
    console.log(
      `killed within ${Math.round(longestMs)} ms: ${begun} while it made them, ${ready} ready, ${opened} opened`,
    );
  } finally {
    rmdirSync(group);
  }
}, 900_000);
