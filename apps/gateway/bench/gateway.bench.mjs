// What the gateway costs: the same client and server with and without it, pins and chain on.
// Two pairs of client and server: the official SDK 1.x on both sides, and the barest of both beside it.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const gateway = here("../bin/berth-gateway.js");
const RUNS = 5;
const MIB = 1024 * 1024;

async function sdkClient(command, args) {
  const client = new Client({ name: "bench", version: "1.0.0" });
  const transport = new StdioClientTransport({ command, args, stderr: "ignore" });
  await client.connect(transport);
  return {
    pid: transport.pid,
    list: () => client.listTools(),
    call: (name, given) => client.callTool({ name, arguments: given }),
    close: () => client.close(),
  };
}

/** Writes lines, parses each answer, keeps a map of ids: what a client cannot do without. */
async function rawClient(command, args) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
  const waiting = new Map();
  let chunks = [];
  child.stdout.on("data", (chunk) => {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      chunks.push(chunk.subarray(from, at));
      const message = JSON.parse(Buffer.concat(chunks).toString("utf8"));
      chunks = [];
      from = at + 1;
      waiting.get(message.id)?.(message.result);
      waiting.delete(message.id);
    }
    if (from < chunk.length) chunks.push(chunk.subarray(from));
  });
  let id = 0;
  const request = (method, params) =>
    new Promise((resolve) => {
      id += 1;
      waiting.set(id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  await request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "bench", version: "1.0.0" },
  });
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  return {
    pid: child.pid,
    list: () => request("tools/list", {}),
    call: (name, given) => request("tools/call", { name, arguments: given }),
    close: () => new Promise((resolve) => child.once("exit", resolve) && child.stdin.end()),
  };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const text = "x".repeat(100);

/** Calls a second with `width` calls in flight. */
async function throughput(client, tool, given, total, width) {
  let left = total;
  const start = performance.now();
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      await client.call(tool, given);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return (total * 1000) / (performance.now() - start);
}

async function measure(open, prefix) {
  const client = await open();
  await client.list();
  const echo = `${prefix}echo`;
  const repeat = `${prefix}repeat`;
  for (let warm = 0; warm < 500; warm += 1) await client.call(echo, { text });
  await throughput(client, echo, { text }, 2_000, 64);
  const times = [];
  for (let call = 0; call < 2_000; call += 1) {
    const start = performance.now();
    await client.call(echo, { text });
    times.push(performance.now() - start);
  }
  const pipelined = await throughput(client, echo, { text }, 8_000, 64);
  const large = await throughput(client, repeat, { bytes: MIB }, 60, 1);
  const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${client.pid}/status`, "utf8"))[1]) / 1024;
  await client.close();
  return {
    p50: median(times),
    p99: times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)],
    pipelined,
    large,
    rss,
  };
}

function prepare(folder, server) {
  const catalog = join(folder, "catalog.json");
  writeFileSync(
    catalog,
    JSON.stringify({
      version: 1,
      servers: { echo: { transport: "stdio", spawn: { command: process.execPath, args: [server] } } },
    }),
  );
  const state = join(folder, "state");
  execFileSync(process.execPath, [gateway, "pin", "--catalog", catalog, "--state", state, "--yes"], {
    stdio: "ignore",
  });
  return [gateway, "serve", "--catalog", catalog, "--state", state, "--stdio"];
}

const spread = (values) => `${Math.min(...values).toPrecision(3)}–${Math.max(...values).toPrecision(3)}`;

async function compare(label, open, server, targets) {
  const folder = mkdtempSync(join(tmpdir(), "berth-bench-"));
  try {
    const args = prepare(folder, here(server));
    const through = [];
    const direct = [];
    for (let run = 0; run < RUNS; run += 1) {
      direct.push(await measure(() => open(process.execPath, [here(server)]), ""));
      through.push(await measure(() => open(process.execPath, args), "echo__"));
    }
    const of = (rows, key) => rows.map((row) => row[key]);
    const row = (name, key, figure, target, holds, unit) => {
      const each = through.map((ours, index) => figure(ours[key], direct[index][key]));
      const ratio = median(each);
      const shared = {
        name: `${label}: ${name}`,
        ours: median(of(through, key)),
        other: median(of(direct, key)),
        ratio,
      };
      return { ...shared, unit, spread: `spread ${spread(each)}`, ...(target && { target, holds: holds(ratio) }) };
    };
    const share = (ours, other) => ours / other;
    return [
      row(
        "added p50 (small call)",
        "p50",
        (a, b) => a - b,
        targets && "<= 0.15",
        (value) => value <= 0.15,
        "ms",
      ),
      row("p99, times direct", "p99", share),
      row("64 in flight, of direct", "pipelined", share, targets && ">= 0.5", (value) => value >= 0.5),
      row("1 MiB results, of direct", "large", share, targets && ">= 0.6", (value) => value >= 0.6),
      row(
        "gateway RSS",
        "rss",
        (ours) => ours,
        targets && "< 100",
        (value) => value < 100,
        "MB",
      ),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function run() {
  return [
    ...(await compare("SDK 1.x both sides", sdkClient, "servers/sdk-echo-server.mjs", true)),
    ...(await compare("raw JSON both sides", rawClient, "servers/raw-echo-server.mjs", false)),
  ];
}
