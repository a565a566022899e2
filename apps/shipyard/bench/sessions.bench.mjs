import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openMcp } from "./peers/mcp-load.mjs";

// Sessions over MCP, of the real command in sandboxes, beside a server that is made of Jupyter's parts and confines
// nothing. Both are up at once and idle while the other is measured; one load client for both.

const runs = 5;
const startsPerRun = 5;
const callsPerRun = 200;
const idleSessions = 8;

const command = fileURLToPath(new URL("../bin/berth-shipyard.js", import.meta.url));
const peerProgram = fileURLToPath(new URL("./peers/jupyter_server.py", import.meta.url));
const peerPython = fileURLToPath(new URL("../../../.scratch/jupyter/bin/python", import.meta.url));

/** The same sessions, with so many workers made ahead. */
async function startShipyard(warmWorkers) {
  const state = mkdtempSync(join(tmpdir(), "berth-bench-"));
  const config = join(state, "shipyard.yaml");
  writeFileSync(config, `sessions: { maxSessions: 64, warmWorkers: ${warmWorkers} }\n`);
  const args = [command, "serve", "--state", join(state, "s"), "--config", config, "--http", "127.0.0.1:0"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  const port = await firstMatch(child, child.stderr, /"event":"listening","url":"http:\/\/127\.0\.0\.1:(\d+)/);
  return {
    pid: child.pid,
    mcp: await openMcp(port),
    close: () => end(child, () => rmSync(state, { recursive: true })),
  };
}

async function startPeer() {
  if (!existsSync(peerPython)) throw new Error("the peer is missing: run `node scripts/parts.mjs python`");
  // It is ended by a signal, after which nobody in it removes its sockets.
  const folder = mkdtempSync(join(tmpdir(), "berth-bench-"));
  const env = { ...process.env, TMPDIR: folder };
  const child = spawn(peerPython, [peerProgram], { stdio: ["ignore", "pipe", "ignore"], env });
  const port = await firstMatch(child, child.stdout, /^(\d+)\n/);
  return {
    pid: child.pid,
    mcp: await openMcp(port),
    close: () => end(child, () => rmSync(folder, { recursive: true, force: true })),
  };
}

function firstMatch(child, stream, pattern) {
  return new Promise((resolve, reject) => {
    let text = "";
    stream.on("data", (chunk) => {
      text += chunk;
      const match = pattern.exec(text);
      if (match !== null) resolve(Number(match[1]));
    });
    child.once("exit", (code) => reject(new Error(`${child.spawnfile} ended with ${code}: ${text}`)));
  });
}

async function end(child, cleanUp) {
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await exited;
  cleanUp();
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const spreadOf = (values) => `${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)}`;

async function timed(action) {
  const from = performance.now();
  await action();
  return performance.now() - from;
}

/** From the request to a session that answers its first code. */
async function startTimes({ mcp }, settle) {
  const times = [];
  for (let index = 0; index < startsPerRun; index++) {
    await settle();
    const session_id = `start-${index}`;
    times.push(await timed(() => mcp.tool("start_python_session", { session_id })));
    await mcp.tool("execute_python_code", { session_id, command: "1" });
    await mcp.tool("stop_python_session", { session_id });
  }
  return median(times);
}

async function callTimes({ mcp }) {
  const times = [];
  const args = { session_id: "calls", command: "1 + 1" };
  for (let index = 0; index < callsPerRun; index++)
    times.push(await timed(() => mcp.tool("execute_python_code", args)));
  return median(times);
}

/** Proportional memory of a process and all that descend from it, in MiB: what is shared counts once. */
function memoryOf(root) {
  const parents = new Map();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    const stat = tryRead(`/proc/${name}/stat`);
    if (stat !== undefined) parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
  }
  const isBelow = (pid) => pid === root || (parents.has(pid) && isBelow(parents.get(pid)));
  const kib = (pid) => Number(/^Pss:\s+(\d+)/m.exec(tryRead(`/proc/${pid}/smaps_rollup`) ?? "")?.[1] ?? 0);
  return (
    [...parents.keys()].filter((pid) => pid !== root && isBelow(pid)).reduce((sum, pid) => sum + kib(pid), 0) / 1_024
  );
}

function tryRead(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // It ended between the list and the look.
    return undefined;
  }
}

/** What one more idle session holds, its server's own memory apart. */
async function idleMemory({ pid, mcp }) {
  const names = Array.from({ length: idleSessions }, (_, index) => `idle-${index}`);
  const before = memoryOf(pid);
  for (const session_id of names) {
    await mcp.tool("start_python_session", { session_id });
    await mcp.tool("execute_python_code", { session_id, command: "1" });
  }
  const after = memoryOf(pid);
  for (const session_id of names) await mcp.tool("stop_python_session", { session_id });
  return (after - before) / idleSessions;
}

const nothing = async () => undefined;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** Until the warm workers are there again: they are made one after another, each in well under this. */
const refilled = () => pause(400);
/** Until what either server ends and makes anew behind its last answer is over: the other's calls would pay for it. */
const atRest = () => pause(1_500);

async function measure({ cold, warm, peer }) {
  const starts = {
    coldStart: await startTimes(cold, nothing),
    warmStart: await startTimes(warm, refilled),
    peerStart: await startTimes(peer, nothing),
  };
  await atRest();
  return { ...starts, call: await callTimes(warm), peerCall: await callTimes(peer) };
}

function rows(figures, memory, peerMemory) {
  const all = (name) => figures.map((figure) => figure[name]);
  const ratios = (theirs, ours) => figures.map((figure) => figure[theirs] / figure[ours]);
  const absolute = (name, key, target) => {
    const ours = median(all(key));
    return {
      name,
      unit: "ms",
      ours,
      other: "-",
      ratio: ours,
      target,
      holds: ours <= target,
      spread: spreadOf(all(key)),
    };
  };
  const against = (name, theirs, key, target) => {
    const ratio = median(ratios(theirs, key));
    const spread = spreadOf(ratios(theirs, key));
    return { name, ours: median(all(key)), other: median(all(theirs)), ratio, target, holds: ratio >= target, spread };
  };
  return [
    against("cold start of a session (ms): Jupyter's parts over ours", "peerStart", "coldStart", 8),
    absolute("start of a session from a warm worker, over MCP", "warmStart", 15),
    absolute("a small call over MCP, p50", "call", 1),
    against("a small call over MCP, p50 (ms): Jupyter's parts over ours", "peerCall", "call", 5),
    {
      name: "proportional memory of one idle session (MiB): ours over Jupyter's parts",
      ...{ ours: memory, other: peerMemory, ratio: memory / peerMemory, target: 0.5, holds: memory < peerMemory / 2 },
    },
  ];
}

export async function run() {
  const open = [];
  try {
    const start = async (make) => {
      const server = await make();
      open.push(server);
      return server;
    };
    const cold = await start(() => startShipyard(0));
    const warm = await start(() => startShipyard(2));
    const peer = await start(startPeer);
    for (const { mcp } of [warm, peer]) {
      await mcp.tool("start_python_session", { session_id: "calls" });
      await callTimes({ mcp });
    }
    const figures = [];
    for (let index = 0; index < runs; index++) figures.push(await measure({ cold, warm, peer }));
    return rows(figures, await idleMemory(cold), await idleMemory(peer));
  } finally {
    for (const server of open) {
      server.mcp.close();
      await server.close();
    }
  }
}
