import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createLeases, createMemoryLeaseStore, type LeaseEvent, type LeaseRecord } from "@berth/environment-leases";
import { createMemoryProvider } from "@berth/environment-leases/memory";
import { describe, expect, it } from "vitest";
import { openAuditLog } from "../../src/audit/audit-log.js";
import { scratchFolder } from "../shipyard.js";

const opening = { mode: "test" };

function entriesOf(folder: string): readonly Readonly<Record<string, unknown>>[] {
  const [log = ""] = readdirSync(folder);
  return readdirSync(join(folder, log))
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) =>
      readFileSync(join(folder, log, name), "utf8")
        .trim()
        .split("\n"),
    )
    .map((line) => JSON.parse(line).entry)
    .filter((entry) => entry !== undefined);
}

describe("the audit log", () => {
  it("is asked before a step: what it does not take is not done", async () => {
    const folder = scratchFolder();
    const log = await openAuditLog({ folder, durability: "batch", opening, now: Date.now });
    const provider = createMemoryProvider();
    const leases = createLeases({
      store: createMemoryLeaseStore(),
      providers: [provider],
      profiles: { p: { provider: provider.name, template: "t" } },
      record: (event) => log.recordLease(event),
    });
    const lease = await leases.acquire({ owner: "ada", profile: "p" });
    await log.close("done"); // as when the disk was full: it takes nothing more
    const before = await provider.listWorkers();
    await expect(leases.acquire({ owner: "ada", profile: "p" })).rejects.toThrow();
    expect(await provider.listWorkers()).toEqual(before);
    await expect(lease.run(["true"])).rejects.toThrow();
    // An end is never held up: it is told afterwards.
    await lease.release();
    expect(await provider.listWorkers()).toEqual([]);
    await leases.close();
    expect(entriesOf(folder).map(({ type }) => type)).toEqual([
      ...["session.open", "lease.reserved", "lease.active", "session.close"],
    ]);
  });

  it("pairs outcomes with their intents by number, also when they overlap", async () => {
    const folder = scratchFolder();
    const log = await openAuditLog({ folder, durability: "none", opening, now: Date.now });
    const about = (call: string) => ({ session: "s", owner: "o", lease: "l", call });
    const intent = (call: string) =>
      log.recordSession({ kind: "call.intent", ...about(call), codeDigest: "d", codeBytes: 1 });
    const text = { text: "secret", bytes: 6, truncated: false };
    const outcome = (call: string) =>
      log.recordSession({
        ...{ kind: "call.outcome", ...about(call) },
        outcome: {
          ...{
            status: "ok",
            stdout: text,
            stderr: text,
            output: text,
            result: "secret",
            displays: [],
            displaysDropped: 2,
          },
          ...{ fault: undefined, reason: undefined, durationMs: 1.5, cpuMs: undefined, count: 1, spill: undefined },
        },
      });
    await intent("a");
    await intent("b");
    await outcome("a");
    await outcome("b");
    await log.close("done");
    const outcomes = entriesOf(folder).filter(({ type }) => type === "command.outcome");
    expect(outcomes).toMatchObject([
      { intent: 2, durationMs: 2, displays: 2, stdoutBytes: 6 },
      { intent: 3, durationMs: 2 },
    ]);
    expect(JSON.stringify(entriesOf(folder))).not.toContain("secret");
  });

  it("takes names that are hostile to logs", async () => {
    const folder = scratchFolder();
    const log = await openAuditLog({ folder, durability: "none", opening, now: Date.now });
    const owner = `\ud800\u0000\n"${"x".repeat(5_000)}`;
    const lease: LeaseRecord = {
      ...{
        id: "l",
        owner,
        profile: "p",
        provider: "q",
        worker: "w",
        state: "reserved" as const,
        generation: 1,
        createdAt: 0,
      },
      ...{ expiresAt: 0, ceilingAt: 0, idleMs: undefined, lastUsedAt: 0, host: "h", cleanupAttempts: 0 },
      ...{ endReason: undefined, endedAt: undefined, lastError: undefined, labels: {} },
    };
    const event: LeaseEvent = { kind: "reserved", lease, isolated: true };
    await log.recordLease(event);
    await log.close("done");
    const entry = entriesOf(folder).find(({ type }) => type === "lease.reserved");
    expect(String(entry?.["owner"]).length).toBeLessThan(1_200);
    expect(entry?.["owner"]).toContain("sha256:");
  });
});
