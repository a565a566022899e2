// What the relay adds to a call, with the official SDK 1.x on both sides: `node bench/run.mjs [rounds]`, after a build.
// Interleaved rounds, medians; ratios against the direct path of the same run.
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const rounds = Number(process.argv[2] ?? 5);
const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function open(script) {
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [file(script)] }));
  return client;
}

const call = (client, args) => client.callTool({ name: "echo", arguments: args });

async function measure(client) {
  const small = { text: "x".repeat(100) };
  for (let count = 0; count < 300; count += 1) await call(client, small);
  const times = [];
  for (let count = 0; count < 2_000; count += 1) {
    const started = performance.now();
    await call(client, small);
    times.push(performance.now() - started);
  }
  let started = performance.now();
  let left = 12_800;
  const worker = async () => {
    while (left-- > 0) await call(client, small);
  };
  await Promise.all(Array.from({ length: 64 }, worker));
  const pipelined = 12_800 / ((performance.now() - started) / 1_000);
  for (let count = 0; count < 4; count += 1) await call(client, { large: true });
  started = performance.now();
  for (let count = 0; count < 40; count += 1) await call(client, { large: true });
  const large = 40 / ((performance.now() - started) / 1_000);
  return { p50: median(times), p99: [...times].sort((a, b) => a - b)[1_980], pipelined, large };
}

const direct = [];
const relayed = [];
for (let round = 0; round < rounds; round += 1) {
  for (const [script, results] of [
    ["echo-sdk.mjs", direct],
    ["relay.mjs", relayed],
  ]) {
    const client = await open(script);
    results.push(await measure(client));
    await client.close();
  }
}
const of = (results, key) => median(results.map((result) => result[key]));
const spread = (results, key) => {
  const values = results.map((result) => result[key]);
  return `${Math.min(...values).toPrecision(3)} to ${Math.max(...values).toPrecision(3)}`;
};
const added = relayed.map(({ p50 }, index) => p50 - direct[index].p50);
console.log(
  `added p50: ${median(added).toFixed(3)} ms (direct ${of(direct, "p50").toFixed(3)}, relayed ${of(relayed, "p50").toFixed(3)})`,
);
console.log(`p99: direct ${of(direct, "p99").toFixed(2)} ms, relayed ${of(relayed, "p99").toFixed(2)} ms`);
for (const [key, what] of [
  ["pipelined", "64 in flight, calls/s"],
  ["large", "1 MiB results, calls/s"],
]) {
  const ratio = of(relayed, key) / of(direct, key);
  console.log(`${what}: ${ratio.toFixed(2)}x of direct (${spread(relayed, key)} against ${spread(direct, key)})`);
}
