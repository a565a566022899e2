import { fileURLToPath } from "node:url";
import { openRaw } from "./peers/raw-client.mjs";

// Small calls (100 bytes of text) of one raw client to servers in processes of their own. All are open at once, and idle while another is measured.

const runs = 5;
const text = "x".repeat(100);
const slices = 8;
const sequentialCalls = 600;
const inFlight = 64;
const pipelinedCalls = 3_200;

const server = (name) => fileURLToPath(new URL(`./peers/${name}-server.mjs`, import.meta.url));
const peers = {
  "ours, 2025-11-25": ["berth-stdio", "legacy"],
  "raw-json, 2025-11-25": ["raw-json", "legacy"],
  "SDK 1.x, 2025-11-25": ["sdk1-stdio", "legacy"],
  "SDK 2.x, 2025-11-25": ["sdk2-stdio", "legacy"],
  "ours, 2026-07-28": ["berth-stdio", "modern"],
  "raw-json, 2026-07-28": ["raw-json", "modern"],
  "SDK 2.x, 2026-07-28": ["sdk2-stdio", "modern"],
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

/** Calls per second of each peer and workload in one run: slices in turn, so that a disturbance meets all of them. */
async function measure(open) {
  const spent = Object.fromEntries(Object.keys(open).map((name) => [name, { sequential: 0, pipelined: 0 }]));
  for (let slice = 0; slice < slices; slice++) {
    for (const [name, { call }] of Object.entries(open)) {
      spent[name].sequential += await timeOf(sequential, call, sequentialCalls);
      spent[name].pipelined += await timeOf(pipelined, call, pipelinedCalls);
    }
  }
  const rate = (count, time) => (slices * count * 1_000) / time;
  return Object.fromEntries(
    Object.entries(spent).map(([name, times]) => [
      name,
      { sequential: rate(sequentialCalls, times.sequential), pipelined: rate(pipelinedCalls, times.pipelined) },
    ]),
  );
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Rows of calls per second; a ratio is how many times slower than the other we are, median of the runs' own ratios. */
export async function run() {
  const open = {};
  const measured = [];
  try {
    for (const [name, [program, era]] of Object.entries(peers)) {
      open[name] = await openRaw(server(program), era);
      await sequential(open[name].call, 2_000);
      await pipelined(open[name].call, 12_800);
    }
    for (let index = 0; index < runs; index++) measured.push(await measure(open));
  } finally {
    for (const { close } of Object.values(open)) await close();
  }
  const compare = (workload, revision, other, target) => {
    const [us, them] = [`ours, ${revision}`, `${other}, ${revision}`];
    const ratios = measured.map((figures) => figures[them][workload] / figures[us][workload]);
    const ratio = median(ratios);
    return {
      name: `stdio, ${revision}, ${workload === "sequential" ? "sequential" : "64 in flight"}: ours / ${other}`,
      ours: median(measured.map((figures) => figures[us][workload])),
      other: median(measured.map((figures) => figures[them][workload])),
      ratio,
      target,
      holds: target === undefined || ratio <= target,
      spread: `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
    };
  };
  return ["2025-11-25", "2026-07-28"].flatMap((revision) => [
    compare("sequential", revision, "raw-json", 1.5),
    compare("pipelined", revision, "raw-json", 2),
    ...(revision === "2025-11-25"
      ? [compare("sequential", revision, "SDK 1.x"), compare("pipelined", revision, "SDK 1.x")]
      : []),
    compare("sequential", revision, "SDK 2.x"),
    compare("pipelined", revision, "SDK 2.x"),
  ]);
}
