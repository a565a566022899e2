import { fileURLToPath } from "node:url";
import { openBerth } from "./peers/berth-client.mjs";
import { openRawJson } from "./peers/raw-json-client.mjs";
import { openSdk } from "./peers/sdk-client.mjs";
import { openVscode } from "./peers/vscode-client.mjs";

// Small calls (100 bytes of text) between two processes, all pairs open at once and idle while another is measured.

const runs = 5;
const text = "x".repeat(100);
const slices = 8;
const sequentialCalls = 600;
const inFlight = 64;
const pipelinedCalls = 3_200;

const server = (name) => fileURLToPath(new URL(`./peers/${name}-server.mjs`, import.meta.url));
const pairs = {
  "raw-json": () => openRawJson(server("raw-json")),
  "berth both sides": () => openBerth(server("berth")),
  "berth client": () => openBerth(server("raw-json")),
  "SDK 1.x both sides": () => openSdk(server("sdk")),
  "vscode-jsonrpc both sides": () => openVscode(server("vscode")),
};

async function sequential(call, count) {
  for (let made = 0; made < count; made++) await call(text);
}

async function pipelined(call, count) {
  let made = 0;
  const lane = async () => {
    while (made++ < count) await call(text);
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}

async function timeOf(work, call, count) {
  const start = performance.now();
  await work(call, count);
  return performance.now() - start;
}

/** Calls per second of each pair and workload in one run: slices in turn, so that a disturbance meets all of them. */
async function measure(peers) {
  const spent = Object.fromEntries(Object.keys(peers).map((name) => [name, { sequential: 0, pipelined: 0 }]));
  for (let slice = 0; slice < slices; slice++) {
    for (const [name, { call }] of Object.entries(peers)) {
      spent[name].sequential += await timeOf(sequential, call, sequentialCalls);
      spent[name].pipelined += await timeOf(pipelined, call, pipelinedCalls);
    }
  }
  return Object.fromEntries(
    Object.entries(spent).map(([name, times]) => [
      name,
      {
        sequential: (slices * sequentialCalls * 1_000) / times.sequential,
        pipelined: (slices * pipelinedCalls * 1_000) / times.pipelined,
      },
    ]),
  );
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** Rows of calls per second; a ratio is how many times slower than the other we are, median of the runs' own ratios. */
export async function run() {
  const peers = {};
  const measured = [];
  try {
    for (const [name, open] of Object.entries(pairs)) {
      peers[name] = await open();
      await sequential(peers[name].call, 2_000);
      await pipelined(peers[name].call, 12_800);
    }
    for (let index = 0; index < runs; index++) measured.push(await measure(peers));
  } finally {
    for (const peer of Object.values(peers)) await peer.close();
  }
  const compare = (name, subject, other, workload, target) => {
    const ratios = measured.map((figures) => figures[other][workload] / figures[subject][workload]);
    const ratio = median(ratios);
    const of = (who) => median(measured.map((figures) => figures[who][workload]));
    const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
    return {
      name,
      ours: of(subject),
      other: of(other),
      ratio,
      target,
      holds: target === undefined || ratio <= target,
      spread,
    };
  };
  const us = "berth both sides";
  return [
    compare("small calls, sequential: endpoint / raw-json", us, "raw-json", "sequential", 1.25),
    compare("small calls, 64 in flight: endpoint / raw-json", us, "raw-json", "pipelined", 1.5),
    compare(
      "small calls, sequential: our client, raw-json server / raw-json",
      "berth client",
      "raw-json",
      "sequential",
    ),
    compare(
      "small calls, 64 in flight: our client, raw-json server / raw-json",
      "berth client",
      "raw-json",
      "pipelined",
    ),
    compare("small calls, sequential: endpoint / SDK 1.x", us, "SDK 1.x both sides", "sequential"),
    compare("small calls, 64 in flight: endpoint / SDK 1.x", us, "SDK 1.x both sides", "pipelined"),
    compare("small calls, sequential: endpoint / vscode-jsonrpc", us, "vscode-jsonrpc both sides", "sequential"),
    compare("small calls, 64 in flight: endpoint / vscode-jsonrpc", us, "vscode-jsonrpc both sides", "pipelined"),
  ];
}
