// Appending and verifying beside the least that such a chain can cost: canonical JSON and SHA-256, in memory.
import { hash } from "node:crypto";
import { createReadStream, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openChain, verifyLog } from "@berth/audit-chain";
import canonicalize from "canonicalize";

const entries = 20_000;
const rounds = 5;

const session = "0b9c2c6e-5c1c-4f0e-8b60-3f1d2a9c7e55";

/** About what the gateway writes for a call; its intents and outcomes are of this size. */
const entry = (index) => ({
  type: "call.record",
  session,
  server: "filesystem",
  method: "tools/call",
  tool: "read_text_file",
  evidence: "spawn-measured",
  requestBytes: 212,
  responseBytes: 4_096 + index,
  requestDigest: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  responseDigest: "sha256:60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752",
  durationMs: 1.25,
});

/** The floor: the same members, canonical JSON by the reference package, one hash an entry, nothing kept. */
function bareAppend() {
  let prev = "0".repeat(64);
  const started = performance.now();
  for (let index = 1; index <= entries; index += 1) {
    const body = canonicalize({ ...entry(index), seq: index, time: new Date().toISOString(), prev });
    prev = hash("sha256", body, "hex");
  }
  return entries / (performance.now() - started);
}

async function append(directory, inFlight) {
  const chain = await openChain({ directory, now: Date.now, monotonic: () => performance.now() });
  await chain.append({ type: "session.open", session });
  const started = performance.now();
  for (let index = 1; index <= entries; index += inFlight) {
    if (inFlight === 1) await chain.append(entry(index));
    else await Promise.all(Array.from({ length: inFlight }, (_, ahead) => chain.append(entry(index + ahead))));
  }
  const rate = entries / (performance.now() - started);
  await chain.close();
  return rate;
}

/** The floor: split into lines, hash the body of each, parse it. */
async function bareVerify(directory) {
  const started = performance.now();
  for (const name of readdirSync(directory).filter((file) => file.endsWith(".jsonl"))) {
    let held = Buffer.alloc(0);
    for await (const chunk of createReadStream(join(directory, name), { highWaterMark: 256 * 1024 })) {
      const bytes = Buffer.concat([held, chunk]);
      let from = 0;
      for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
        const body = bytes.subarray(from + 9, end - 75);
        hash("sha256", body, "hex");
        JSON.parse(body.toString());
        from = end + 1;
      }
      held = bytes.subarray(from);
    }
  }
  return entries / (performance.now() - started);
}

async function verify(directory, strict) {
  const started = performance.now();
  const report = await verifyLog(directory, { strict });
  if (!report.ok || report.entries < entries) throw new Error(`the log did not verify: ${JSON.stringify(report)}`);
  return entries / (performance.now() - started);
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

function row(name, target, pairs) {
  const ratios = pairs.map(({ ours, other }) => ours / other);
  const ratio = median(ratios);
  return {
    name,
    ours: median(pairs.map(({ ours }) => ours)) * 1_000,
    other: median(pairs.map(({ other }) => other)) * 1_000,
    ratio,
    target,
    holds: target === undefined || ratio >= target,
    spread: [Math.min(...ratios), Math.max(...ratios)],
  };
}

/** Rows in entries per second; `other` is the floor, measured in the same round. */
export async function run() {
  const scratch = mkdtempSync(join(tmpdir(), "berth-chain-bench-"));
  const pairs = { one: [], many: [], verify: [], strict: [] };
  try {
    for (let round = 0; round <= rounds; round += 1) {
      const directory = join(scratch, `round-${round}`);
      const floor = bareAppend();
      const measured = {
        one: { ours: await append(`${directory}-one`, 1), other: floor },
        many: { ours: await append(directory, 50), other: bareAppend() },
        verify: { other: await bareVerify(directory), ours: await verify(directory, false) },
        strict: { other: await bareVerify(directory), ours: await verify(directory, true) },
      };
      // The first round warms up.
      if (round > 0) for (const [name, pair] of Object.entries(measured)) pairs[name].push(pair);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return [
    row("chain append, one at a time, batch, on disk / canonicalize + SHA-256 in memory", 0.5, pairs.one),
    row("chain append, 50 in flight, batch, on disk / canonicalize + SHA-256 in memory", 0.5, pairs.many),
    row("chain verify / split + SHA-256 + JSON.parse", 0.4, pairs.verify),
    row("chain verify --strict / split + SHA-256 + JSON.parse", undefined, pairs.strict),
  ];
}
