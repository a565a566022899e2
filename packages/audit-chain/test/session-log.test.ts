import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ChainError, listLogs, openSessionLog, verifyLogs } from "../src/index.js";
import type { LastingChain } from "../src/lasting-chain.js";
import { bracket } from "../src/session-log.js";
import { entriesOf, scratch, tickingClock } from "./scratch.js";

const opening = { program: "test 1.0" };

describe("the log of one process", () => {
  it("is bracketed by its opening and its close, in a folder of its own that its time begins", async () => {
    const folder = scratch();
    const log = await openSessionLog({ folder, opening, now: tickingClock() });
    await log.append({ type: "plugin.decision", plugin: "guard" });
    await Promise.all([log.close("SIGTERM"), log.close("again")]);
    expect(log.logId).toMatch(/^20260102T030405\.\d{3}Z-[0-9a-f]{8}$/u);
    expect(log.session.startsWith(log.logId.slice(-8))).toBe(true);
    expect(readdirSync(folder)).toEqual([log.logId]);
    const { session } = log;
    expect(await entriesOf(join(folder, log.logId))).toMatchObject([
      { type: "session.open", session, program: "test 1.0" },
      { type: "plugin.decision", session, plugin: "guard" },
      { type: "session.close", session, reason: "SIGTERM" },
    ]);
    expect(await verifyLogs(folder)).toMatchObject({ ok: true, entries: 3 });
  });

  it("is named after those that were opened before it, though it was in the same second", async () => {
    const folder = scratch();
    const times = [0, 1, 9, 10, 999, 1_000];
    const names: string[] = [];
    for (const time of times) {
      await using log = await openSessionLog({ folder, opening, now: () => Date.UTC(2026, 0, 2) + time });
      names.push(log.logId);
    }
    expect(readdirSync(folder).sort()).toEqual(names);
  });

  it("lies beside those of other processes, which write at the same time", async () => {
    const folder = scratch();
    const begin = () => openSessionLog({ folder, opening, now: Date.now });
    const logs = await Promise.all([begin(), begin(), begin()]);
    await Promise.all(logs.map(async (log) => log.append({ type: "note" })));
    await Promise.all(logs.map((log) => log.close("done")));
    expect((await listLogs(folder)).length).toBe(3);
    expect(await verifyLogs(folder)).toMatchObject({ ok: true, entries: 9 });
  });

  it("takes names that are hostile to logs", async () => {
    const folder = scratch();
    const log = await openSessionLog({ folder, opening, now: Date.now });
    await log.append({ type: "note", name: `\ud800\u0000\n"${"x".repeat(50_000)}`, session: "another" });
    await log[Symbol.asyncDispose]();
    const [, note, end] = await entriesOf(join(folder, log.logId));
    expect([note?.["name"], note?.session, end?.["reason"]]).toEqual([
      expect.stringContaining("sha256:"),
      log.session,
      "closed",
    ]);
  });

  it("refuses what it cannot keep, by one code, and says when it turns", async () => {
    const turns: unknown[] = [];
    const chain = fakeChain();
    const log = await bracket({ chain, logId: "log", session: "s", opening, onTurn: (refusal) => turns.push(refusal) });
    log.throwIfRefusing();
    const full = new ChainError("WRITE_FAILED", "no space left");
    chain.fault = full;
    for (let times = 0; times < 2; times += 1)
      await expect(log.append({ type: "note" })).rejects.toMatchObject({
        ...{ name: "ChainError", code: "AUDIT_UNAVAILABLE", cause: full },
      });
    expect(() => log.throwIfRefusing()).toThrow("takes no entries now");
    chain.fault = undefined;
    await log.append({ type: "note" });
    log.throwIfRefusing();
    expect(turns).toEqual([full, undefined]);
    await log.close();
    expect([chain.types, chain.closed]).toEqual([["session.open", "note", "session.close"], 1]);
  });

  it("that cannot be begun is closed, and so is one that cannot be ended", async () => {
    const chain = fakeChain();
    const begin = () => bracket({ chain, logId: "log", session: "s", opening, onTurn: () => undefined });
    const log = await begin();
    chain.fault = new Error("no space left");
    await expect(log.close("done")).rejects.toMatchObject({ code: "AUDIT_UNAVAILABLE" });
    await expect(begin()).rejects.toMatchObject({ code: "AUDIT_UNAVAILABLE" });
    expect(chain.closed).toBe(2);
  });
});

/** A chain whose disk does what the test says. */
function fakeChain(): LastingChain & { fault: Error | undefined; closed: number; readonly types: string[] } {
  const types: string[] = [];
  return {
    types,
    closed: 0,
    fault: undefined,
    async append({ type }) {
      if (this.fault !== undefined) throw this.fault;
      types.push(type);
      return { sequence: types.length, hash: "0".repeat(64), time: "" };
    },
    async close() {
      this.closed += 1;
    },
  };
}
