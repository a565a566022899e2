import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { partTest } from "../../../fixtures/parts.js";
import { sweepChildren } from "../src/index.js";
import { hostsOfThisFile } from "./hosts.js";
import { bearersOf, untilNoneBears } from "./living.js";
import { soon } from "./recorder.js";

const startHost = hostsOfThisFile();
const itWithUtilLinux = partTest("util-linux");
describe.each(["auto", "group"] as const)("the death of the host (containment %s)", (containment) => {
  const kills = scaledCount(`hosts killed under containment ${containment}`, 200);
  itWithUtilLinux(
    `leaves no process and, after a sweep, no record, at any moment of the spawn (${kills} hosts)`,
    async () => {
      let records = 0;
      const longestMs = 1.2 * (await startMs(containment));
      for (let n = 0; n < kills; n++) {
        const host = startHost(containment);
        await soon(host.said(), "the begin of the spawn");
        await pause(Math.random() * longestMs);
        await host.kill();
        expect(await untilNoneBears(host.token)).toEqual([]);
        const report = await sweepChildren(host.registry);
        // What is at its end may have let go of its memory, and with it of its token, and not be a zombie yet.
        records += report.gone + report.ended.length;
        expect(report).toMatchObject({ held: 0, foreign: 0, unproven: [], failed: [] });
        expect(listed(host.registry)).toEqual([]);
      }
      console.log(`killed within ${Math.round(longestMs)} ms of the spawn; ${records} of ${kills} had a record`);
    },
    600_000,
  );

  itWithUtilLinux("takes the whole family along, also those that left the session", async () => {
    const host = startHost(containment);
    await soon(host.said(), "the begin of the spawn");
    const { pid } = await soon(host.said(), "the child");
    expect(bearersOf(host.token)).toContain(pid);
    // The host, the supervisor (two of them for a namespace), the command, and its two.
    await expect.poll(() => bearersOf(host.token).length).toBeGreaterThanOrEqual(5);
    await host.kill();
    expect(await untilNoneBears(host.token)).toEqual([]);
  });
});

describe("a sweep after a death", () => {
  itWithUtilLinux("ends a child whose supervisor was stopped when its host died", async () => {
    const host = startHost("group");
    await soon(host.said(), "the begin of the spawn");
    const { pid, supervisor } = await soon(host.said(), "the child");
    await soon(stop(supervisor), "the stop");
    await host.kill();
    expect(bearersOf(host.token)).toContain(pid);
    const report = await sweepChildren(host.registry);
    expect(report).toMatchObject({ ended: [{ pid, file: expect.stringContaining(host.token) }], gone: 0, failed: [] });
    expect(bearersOf(host.token)).toEqual([]);
    expect(listed(host.registry)).toEqual([]);
  });

  itWithUtilLinux("may run twice at once", async () => {
    const host = startHost("group");
    await soon(host.said(), "the begin of the spawn");
    const { supervisor } = await soon(host.said(), "the child");
    await soon(stop(supervisor), "the stop");
    await host.kill();
    const reports = await Promise.all([sweepChildren(host.registry), sweepChildren(host.registry)]);
    expect(reports.flatMap(({ failed, unproven }) => [...failed, ...unproven])).toEqual([]);
    expect(bearersOf(host.token)).toEqual([]);
    expect(listed(host.registry)).toEqual([]);
  });

  itWithUtilLinux("leaves alone, and names, what it cannot prove to be the child's", async () => {
    const host = startHost("group");
    await soon(host.said(), "the begin of the spawn");
    const { pid, supervisor } = await soon(host.said(), "the child");
    await soon(stop(supervisor), "the stop");
    await host.kill();
    process.kill(supervisor, "SIGKILL"); // and the command dies with it, but not what the command made
    await soon(untilDead(pid), "the end of the command");
    const report = await sweepChildren(host.registry);
    expect(report).toMatchObject({ ended: [], unproven: [{ pid }] });
    expect(bearersOf(host.token).length).toBeGreaterThan(0);
    expect(listed(host.registry)).toHaveLength(1);
  });

  it("leaves the children of a living host alone", async () => {
    const host = startHost("auto");
    await soon(host.said(), "the begin of the spawn");
    const { pid } = await soon(host.said(), "the child");
    expect(await sweepChildren(host.registry)).toMatchObject({ ended: [], held: 1 });
    expect(bearersOf(host.token)).toContain(pid);
    expect(listed(host.registry)).toHaveLength(1);
    await host.kill();
  });
});

/** How long a start takes here and now, from the call of `openChild` to the command's first words. */
async function startMs(containment: "auto" | "group"): Promise<number> {
  const host = startHost(containment);
  await soon(host.said(), "the begin of the spawn");
  const begun = performance.now();
  await soon(host.said(), "the child");
  const tookMs = performance.now() - begun;
  await host.kill();
  expect(await untilNoneBears(host.token)).toEqual([]);
  return tookMs;
}

/** Until the stop has come, the process goes on: it could still act on the death of its host. */
async function stop(pid: number): Promise<void> {
  process.kill(pid, "SIGSTOP");
  while (!/^\d+ \(.*\) T /su.test(readFileSync(`/proc/${pid}/stat`, "latin1"))) await pause(1);
}

async function untilDead(pid: number): Promise<void> {
  while (isThere(pid)) await pause(5);
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function listed(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // the host died before it made the folder
  }
}
