import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readChain, verifyLogs } from "@berth/audit-chain";
import type { LeaseRecord } from "@berth/environment-leases";
import type { EgressDecision } from "@berth/process-confinement/egress";
import { expect, it } from "vitest";
import { openAuditLog } from "../../src/audit/audit-log.js";
import { appFolder, scratchFolder } from "../shipyard.js";

const lease: LeaseRecord = {
  ...{ id: "l", owner: "ada", profile: "p", provider: "q", worker: "mcp-1", generation: 1, host: "h", labels: {} },
  ...{ createdAt: 0, expiresAt: 0, ceilingAt: 0, idleMs: 1, lastUsedAt: 0, endedAt: undefined, cleanupAttempts: 0 },
  ...{ lastError: undefined, state: "active", endReason: undefined },
};
const refused: EgressDecision = {
  ...{ protocol: "connect", host: "evil.example", port: 443, outcome: "refused", reason: "HOST_NOT_ALLOWED" },
  address: undefined,
};
const open = (folder: string) => openAuditLog({ folder, durability: "none", opening: { mode: "test" }, now: Date.now });

async function egressOf(folder: string, logId: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const entries: Readonly<Record<string, unknown>>[] = [];
  for await (const entry of readChain(join(folder, logId))) entries.push(entry);
  return entries.filter(({ type }) => type === "lease.egress");
}

it("a flood of refused connections is the first, doublings and the sum at the end of its lease, with whose it was", async () => {
  const folder = scratchFolder();
  const log = await open(folder);
  await log.recordLease({ kind: "active", lease, isolated: true });
  for (let times = 0; times < 10_000; times += 1) log.recordEgress("mcp-1", refused);
  await log.recordLease({ kind: "released", lease: { ...lease, state: "released" }, isolated: true });
  await log.close("done");
  const told = await egressOf(folder, log.logId);
  expect(told.map(({ count }) => count)).toEqual([...Array.from({ length: 14 }, (_, power) => 2 ** power), 10_000]);
  const about = { lease: "l", owner: "ada", worker: "mcp-1", outcome: "refused", protocol: "connect" };
  expect(told[0]).toMatchObject({ ...about, host: "evil.example", port: 443, reason: "HOST_NOT_ALLOWED" });
});

it("a flood of different names, hostile ones too, stays bounded and leaves a log that verifies", async () => {
  const folder = scratchFolder();
  const log = await open(folder);
  await log.recordLease({ kind: "active", lease, isolated: true });
  for (let times = 0; times < 10_000; times += 1)
    log.recordEgress("mcp-1", { ...refused, host: `\ud800"${times}${"x".repeat(5_000)}` });
  // Whoever has not ended yet is told of at the end of the process.
  await log.close("done");
  const told = await egressOf(folder, log.logId);
  expect(told.length).toBeLessThan(100);
  expect(told.at(-1)).toMatchObject({ host: "", port: 0, count: 10_000 - 64 });
  expect(await verifyLogs(folder)).toMatchObject({ ok: true });
});

it("a log that takes nothing lets no connection be made", async () => {
  const log = await open(scratchFolder());
  log.recordEgress("mcp-1", { ...refused, outcome: "allowed", reason: undefined });
  await log.close("done"); // as when the disk was full: it takes nothing more
  await expect(log.recordLease({ kind: "active", lease, isolated: true })).rejects.toMatchObject({
    ...{ name: "ChainError", code: "AUDIT_UNAVAILABLE", cause: { code: "CHAIN_CLOSED" } },
  });
  expect(() => log.recordEgress("mcp-1", { ...refused, outcome: "allowed", reason: undefined })).toThrow("takes no");
});

it("the README names each member of such an entry", async () => {
  const folder = scratchFolder();
  const log = await open(folder);
  await log.recordLease({ kind: "active", lease, isolated: true });
  log.recordEgress("mcp-1", { ...refused, outcome: "failed", address: "192.0.2.1" });
  await log.close("done");
  const [entry = {}] = await egressOf(folder, log.logId);
  const readme = readFileSync(join(appFolder, "README.md"), "utf8");
  const row = readme.split("\n").find((line) => line.startsWith("| `lease.egress` |")) ?? "";
  const members = ["lease", "owner", "worker", "outcome", "protocol", "host", "port", "reason", "address", "count"];
  expect(Object.keys(entry)).toEqual(expect.arrayContaining(members));
  for (const name of members) expect(row).toContain(`\`${name}\``);
});
