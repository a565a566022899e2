import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

// From spawn to the first answer, and what the process then holds in memory. Peers in turn, several starts a run.

const runs = 5;
const startsPerRun = 5;
const server = (name) => fileURLToPath(new URL(`./peers/${name}-server.mjs`, import.meta.url));
const peers = {
  "ours, stdio": server("berth-stdio"),
  "bare Node": server("raw-json"),
  "SDK 1.x": server("sdk1-stdio"),
  "SDK 2.x": server("sdk2-stdio"),
};
const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
};

/** Milliseconds to the first answer, and resident MiB of the process then. */
async function start(program) {
  const from = performance.now();
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.write(`${JSON.stringify(initialize)}\n`);
  await new Promise((resolve, reject) => {
    child.stdout.once("data", resolve);
    child.once("exit", () => reject(new Error(`${program} ended without an answer`)));
  });
  const milliseconds = performance.now() - from;
  const [, pages] = readFileSync(`/proc/${child.pid}/statm`, "utf8").split(" ");
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.stdin.end();
  await exited;
  return { milliseconds, mebibytes: (Number(pages) * 4096) / 1_048_576 };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function measure() {
  const starts = Object.fromEntries(Object.keys(peers).map((name) => [name, []]));
  for (let index = 0; index < startsPerRun; index++) {
    for (const [name, program] of Object.entries(peers)) starts[name].push(await start(program));
  }
  return Object.fromEntries(
    Object.entries(starts).map(([name, all]) => [
      name,
      {
        milliseconds: median(all.map(({ milliseconds }) => milliseconds)),
        mebibytes: median(all.map(({ mebibytes }) => mebibytes)),
      },
    ]),
  );
}

export async function run() {
  await measure(); // fills the caches of the file system
  const measured = [];
  for (let index = 0; index < runs; index++) measured.push(await measure());
  const spreadOf = (values) => `${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)}`;
  const us = "ours, stdio";
  const starting = (other, target) => {
    const ratios = measured.map((figures) => figures[us].milliseconds / figures[other].milliseconds);
    const of = (who) => median(measured.map((figures) => figures[who].milliseconds));
    const ratio = median(ratios);
    const holds = target === undefined || ratio <= target;
    return {
      name: `cold start: ours / ${other}`,
      ours: of(us),
      other: of(other),
      ratio,
      target,
      holds,
      spread: spreadOf(ratios),
    };
  };
  const memory = (who, target) => {
    const over = measured.map((figures) => figures[who].mebibytes - figures["bare Node"].mebibytes);
    const of = (name) => median(measured.map((figures) => figures[name].mebibytes));
    const ratio = median(over);
    const holds = target === undefined || ratio <= target;
    const name = `memory over bare Node: ${who}`;
    return { name, unit: "MiB", ours: of(who), other: of("bare Node"), ratio, target, holds, spread: spreadOf(over) };
  };
  return [
    starting("bare Node", 1.3),
    starting("SDK 1.x"),
    starting("SDK 2.x"),
    memory(us, 20),
    memory("SDK 1.x"),
    memory("SDK 2.x"),
  ];
}
