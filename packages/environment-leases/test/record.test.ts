import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { LeaseEvent } from "../src/index.js";
import { settle } from "./clock.js";
import { codeOf, createLeased } from "./leased.js";

const ofCommands = (events: readonly LeaseEvent[]) =>
  events.flatMap((event) => (event.kind === "command.intent" || event.kind === "command.outcome" ? [event] : []));

describe("what is recorded", () => {
  it("holds digests and sizes, never what was run or said", async () => {
    const { leases, events } = createLeased();
    const lease = await leases.acquire({ owner: "ann", profile: "open" });
    await lease.run(["echo", "top secret"]);
    await lease.run(["exit", "3"]);
    await codeOf(lease.run(["no such program"]));
    await codeOf(lease.run(["exit"], { signal: AbortSignal.abort("gone") }));
    await lease.requestResource({
      port: 8080,
      method: "POST",
      path: "/secret",
      body: Buffer.from("secret"),
      contentType: "text/plain",
    });
    const argvDigest = createHash("sha256").update('["echo","top secret"]').digest("hex");
    const seen = ofCommands(events);
    expect(seen[0]).toMatchObject({ kind: "command.intent", operation: "run", argvDigest, argvCount: 2 });
    expect(seen[1]).toMatchObject({
      command: seen[0]?.command,
      outcome: "exited",
      exitCode: 0,
      stdoutBytes: 11,
      stderrBytes: 0,
    });
    const outcomes = seen.flatMap((event) =>
      event.kind === "command.outcome" ? [[event.operation, event.outcome, event.exitCode]] : [],
    );
    expect(outcomes).toEqual([
      ["run", "exited", 0],
      ["run", "exited", 3],
      ["run", "COMMAND_NOT_STARTED", undefined],
      ["request", "exited", undefined],
    ]);
    expect(JSON.stringify(events)).not.toContain("secret");
    expect(new Set(seen.map(({ command }) => command)).size).toBe(4);
  });

  it("tells of processes and terminals when they begin and when they are over", async () => {
    const { leases, events } = createLeased();
    const lease = await leases.acquire({ owner: "ann", profile: "open" });
    const process = await lease.open(["copy"]);
    const terminal = await lease.openTerminal();
    expect(ofCommands(events).map(({ kind, operation }) => [kind, operation])).toEqual([
      ["command.intent", "open"],
      ["command.intent", "terminal"],
    ]);
    process.stream.resume();
    process.stream.end();
    await process.exited;
    await settle();
    await terminal.close();
    await settle();
    const ends = ofCommands(events).slice(2);
    expect(ends).toMatchObject([
      { operation: "open", outcome: "ended", exitCode: 0 },
      { operation: "terminal", outcome: "ended" },
    ]);
  });

  it.each(["reserved", "command.intent"])("refuses the step when the recorder refuses %s", async (refused) => {
    const fault = new Error("the log is full");
    const { leases, world, store } = createLeased({
      record({ kind }) {
        if (kind === refused) throw fault;
      },
    });
    const acquiring = leases.acquire({ owner: "ann", profile: "python" });
    if (refused === "reserved") {
      await expect(acquiring).rejects.toBe(fault);
      expect(world.workers).toEqual([]);
      expect((await store.list()).map(({ state }) => state)).toEqual(["released"]);
      return;
    }
    const lease = await acquiring;
    await expect(lease.run(["exit"])).rejects.toBe(fault);
    await expect(lease.open(["copy"])).rejects.toBe(fault);
    expect(lease.usage().processes).toBe(0);
  });

  it("that is refused after the fact changes nothing, and is told", async () => {
    const fault = new Error("the log is full");
    const { leases, faults } = createLeased({
      record({ kind }) {
        if (kind !== "reserved" && kind !== "command.intent") throw fault;
      },
    });
    const lease = await leases.acquire({ owner: "ann", profile: "python" });
    expect((await lease.run(["exit", "0"])).exitCode).toBe(0);
    await lease.renew({ ttlMs: 1_000 });
    await lease.release();
    await settle();
    expect(faults).toEqual(Array(5).fill(fault));
  });

  it("keeps its order for one lease although the recorder is slow", async () => {
    const kinds: string[] = [];
    const { leases } = createLeased({
      async record({ kind }) {
        await settle();
        kinds.push(kind);
      },
    });
    const lease = await leases.acquire({ owner: "ann", profile: "python" });
    await lease.run(["exit"]);
    await lease.release();
    await settle();
    await settle();
    await settle();
    expect(kinds).toEqual(["reserved", "active", "command.intent", "command.outcome", "releasing", "released"]);
  });

  it("is not disturbed by a monitor that throws", async () => {
    const { leases } = createLeased({
      onFault() {
        throw new Error("of the monitor");
      },
      record({ kind }) {
        if (kind === "active") throw new Error("of the recorder");
      },
    });
    const lease = await leases.acquire({ owner: "ann", profile: "python" });
    await lease.release();
  });
});
