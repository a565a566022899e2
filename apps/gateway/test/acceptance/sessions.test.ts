/** Sessions opened and closed in a row, some by SIGKILL of the gateway or of its child: nothing may be left behind. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { partTest } from "../../../../fixtures/parts.js";
import { unpackGateway } from "./packed.js";
import { handshake, type RawClient, startRawClient } from "./raw-client.js";

const server = fileURLToPath(new URL("../../bench/servers/raw-echo-server.mjs", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "berth-sessions-"));
const temporary = join(scratch, "tmp");
const state = join(scratch, "state");
const catalog = join(scratch, "catalog.json");
const marker = `berth-sessions-marker-${process.pid}`;
const environment = { PATH: process.env["PATH"] ?? "", HOME: scratch, TMPDIR: temporary, BERTH_MARKER: marker };
let bin = "";

beforeAll(() => {
  bin = unpackGateway(join(scratch, "install"));
  mkdirSync(temporary);
  const spawn = { command: process.execPath, args: [server], env: { BERTH_MARKER: marker } };
  writeFileSync(catalog, JSON.stringify({ version: 1, servers: { echo: { transport: "stdio", spawn } } }));
}, 120_000);
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const gateway = (...args: string[]): RawClient =>
  startRawClient(process.execPath, [bin, ...args], { env: environment });
const serve = (): RawClient => gateway("serve", "--catalog", catalog, "--state", state, "--stdio");

/** Everything alive whose environment holds the marker: gateways, their supervisors, their children. Zombies are dead. */
function alive(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
        if (stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3) === "Z") return false;
        return readFileSync(`/proc/${pid}/environ`, "latin1").includes(marker);
      } catch {
        return false; // ended while it was looked at
      }
    })
    .map(Number);
}

/** The processes whose command line holds the fixture server: the children of gateways. */
const servers = (): number[] =>
  alive().filter((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0");
      return words[1] === server && words.length === 3;
    } catch {
      return false; // ended while it was looked at
    }
  });

/** Polls until nothing with the marker lives; ten seconds are the bound, not the wait. */
async function nobodyLeft(): Promise<number[]> {
  const until = performance.now() + 10_000;
  while (alive().length > 0 && performance.now() < until) await wait(10);
  return alive();
}

const residentKb = (pid: number | undefined): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);

const call = (client: RawClient): Promise<string> =>
  client.request("tools/call", { name: "echo__echo", arguments: { text: "hello" } });

/** A whole session with one call; ends as asked and returns the gateway's memory before its end, in KiB. */
async function session(end: "close" | "kill gateway" | "kill child", moment: number): Promise<number> {
  const client = serve();
  if (end === "kill gateway" && moment < 0.3) {
    const opening = handshake(client).catch(() => "");
    await wait(moment * 500); // a moment of the start, drawn at random: not a wait for something
    client.process.kill("SIGKILL");
    await opening;
    await client.end();
    return Number.NaN;
  }
  await handshake(client);
  expect(await call(client)).toContain('"hello"');
  if (end === "kill gateway") {
    const pending = moment < 0.7 ? call(client).catch(() => "") : Promise.resolve("");
    client.process.kill("SIGKILL");
    await pending;
    await client.end();
    return Number.NaN;
  }
  if (end === "kill child") {
    for (const pid of servers()) process.kill(pid, "SIGKILL");
    let answer = await call(client);
    // The call may have met the dying child; the one after it must meet a fresh one.
    if (answer.includes('"error"')) answer = await call(client);
    expect(answer).toContain('"hello"');
  }
  const memory = residentKb(client.process.pid);
  expect(await client.end(), client.stderr()).toBe(0);
  return memory;
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

describe("a thousand sessions in a row", () => {
  partTest()(
    "leave no process, no descriptor, no temporary file, and no memory behind",
    async () => {
      const total = scaledCount("sessions", 1_000);
      const kills = scaledCount("of them ended by SIGKILL", 200);
      const pin = gateway("pin", "--catalog", catalog, "--state", state, "--yes");
      expect(await pin.end(), pin.stderr()).toBe(0);
      const memory: number[] = [];
      const descriptors = readdirSync("/proc/self/fd").length;
      for (let index = 0; index < total; index += 1) {
        const killed = Math.floor((index * kills) / total) !== Math.floor(((index + 1) * kills) / total);
        const end = !killed ? "close" : index % 2 === 0 ? "kill gateway" : "kill child";
        const used = await session(end, Math.random());
        if (!Number.isNaN(used)) memory.push(used);
        if (killed) expect(await nobodyLeft(), `after ${end}, session ${index}`).toEqual([]);
      }
      expect(await nobodyLeft()).toEqual([]);
      await session("close", 0); // a start sweeps what killed gateways left on record
      expect(readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(descriptors + 2);
      expect(readdirSync(temporary)).toEqual([]);
      expect(readdirSync(join(state, "children"))).toEqual([]);
      const tenth = Math.max(3, Math.floor(memory.length / 10));
      expect(median(memory.slice(-tenth))).toBeLessThan(median(memory.slice(0, tenth)) * 1.15);
      const verify = gateway("audit", "verify", "--state", state, "--json");
      expect(await verify.end(), verify.unasked.join("\n")).toBe(0);
    },
    3_600_000,
  );
});
