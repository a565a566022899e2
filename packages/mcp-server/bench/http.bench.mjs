import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openLoad, openSessions } from "./peers/http-load.mjs";

// Small calls (100 bytes of text) over kept-alive connections, one load client for all. Servers are processes of their own, all up at once, and idle while
// another is measured.

const runs = 5;
const slices = 4;
const callsPerSlice = 1_500;
const widths = [1, 16, 64];
const sessions = 10_000;

const peers = {
  "ours, 2025-11-25": ["berth", "legacy"],
  "bare Node, 2025-11-25": ["bare", "legacy"],
  "SDK 1.x, 2025-11-25": ["sdk1", "legacy"],
  "SDK 2.x, 2025-11-25": ["sdk2", "legacy"],
  "ours, 2026-07-28": ["berth", "modern"],
  "bare Node, 2026-07-28": ["bare", "modern"],
  "SDK 2.x, 2026-07-28": ["sdk2", "modern"],
};

async function start(name) {
  const program = fileURLToPath(new URL(`./peers/${name}-http-server.mjs`, import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
  const port = await new Promise((resolve, reject) => {
    child.stdout.once("data", (text) => resolve(Number(text)));
    child.once("exit", () => reject(new Error(`${program} ended before it listened`)));
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const close = () => {
    child.stdin.end();
    return exited;
  };
  return { pid: child.pid, port, close };
}

/** Calls per second of each peer at each width in one run: slices in turn, so that a disturbance meets all of them. */
async function measure(loads) {
  const spent = Object.fromEntries(Object.keys(loads).map((name) => [name, widths.map(() => 0)]));
  for (let slice = 0; slice < slices; slice++) {
    for (const [name, load] of Object.entries(loads)) {
      for (const [place, width] of widths.entries()) spent[name][place] += await load.run(callsPerSlice, width);
    }
  }
  const rate = (milliseconds) => (slices * callsPerSlice * 1_000) / milliseconds;
  return Object.fromEntries(Object.entries(spent).map(([name, times]) => [name, times.map(rate)]));
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const spreadOf = (values) => `${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)}`;

/** How many times the other's calls per second are ours; a target is the least that is wanted. */
function compare(measured, revision, other, target) {
  return widths.map((width, place) => {
    const [us, them] = [`ours, ${revision}`, `${other}, ${revision}`];
    const ratios = measured.map((figures) => figures[us][place] / figures[them][place]);
    const ratio = median(ratios);
    return {
      name: `HTTP, ${revision}, ${width} connections: ours over ${other}`,
      ours: median(measured.map((figures) => figures[us][place])),
      other: median(measured.map((figures) => figures[them][place])),
      ratio,
      target,
      holds: target === undefined || ratio >= target,
      spread: spreadOf(ratios),
    };
  });
}

const residentMiB = (pid) => (Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * 4096) / 1_048_576;

/** What the whole process of a server holds when so many sessions were opened; bare Node has none, and only answers. */
async function memoryAfterSessions(name) {
  const server = await start(name);
  try {
    await openSessions(server.port, sessions);
    return residentMiB(server.pid);
  } finally {
    await server.close();
  }
}

async function sessionMemory() {
  const [ours, other] = [await memoryAfterSessions("berth"), await memoryAfterSessions("bare")];
  const name = `memory of the process with ${sessions} open sessions; the other: bare Node after the same requests`;
  return { name, unit: "MiB", ours, other, ratio: ours, target: 150, holds: ours < 150 };
}

export async function run() {
  const servers = {};
  const loads = {};
  const measured = [];
  try {
    for (const name of new Set(Object.values(peers).map(([name]) => name))) servers[name] = await start(name);
    for (const [name, [server, era]] of Object.entries(peers)) {
      loads[name] = await openLoad(servers[server].port, era);
      for (const width of widths) await loads[name].run(2_000, width);
    }
    for (let index = 0; index < runs; index++) measured.push(await measure(loads));
  } finally {
    for (const load of Object.values(loads)) load.close();
    for (const server of Object.values(servers)) await server.close();
  }
  return [
    ...compare(measured, "2025-11-25", "SDK 1.x", 3),
    ...compare(measured, "2025-11-25", "SDK 2.x", 3),
    ...compare(measured, "2025-11-25", "bare Node"),
    ...compare(measured, "2026-07-28", "SDK 2.x", 3),
    ...compare(measured, "2026-07-28", "bare Node"),
    await sessionMemory(),
  ];
}
