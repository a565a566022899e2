import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createMemoryLeaseStore, type Lease, LeaseError } from "../src/index.js";
import type { MemoryProgram } from "../src/memory.js";
import { settle } from "./clock.js";
import { codeOf, createLeased, text } from "./leased.js";

const python = { profile: "python" } as const;

/** A program that runs until it is told to go on, by its number. */
function createSteps() {
  const order: string[] = [];
  const gates = new Map<string, () => void>();
  const step: MemoryProgram = ({ args: [name = ""] }) => {
    order.push(`${name} begins`);
    return new Promise((resolve) =>
      gates.set(name, () => {
        order.push(`${name} ends`);
        resolve(0);
      }),
    );
  };
  return { order, step, go: (name: string) => gates.get(name)?.() };
}

describe("operations of one lease", () => {
  it("run one at a time in the order in which they came, and beside those of other leases", async () => {
    const { order, step, go } = createSteps();
    const { leases } = createLeased({ memory: { programs: { step } } });
    const [one, other] = await Promise.all([
      leases.acquire({ owner: "ann", ...python }),
      leases.acquire({ owner: "ann", ...python }),
    ]);
    const works = [one.run(["step", "1"]), one.run(["step", "2"]), one.run(["step", "3"]), other.run(["step", "a"])];
    await settle();
    expect(order).toEqual(["1 begins", "a begins"]);
    for (const name of ["1", "2", "a", "3"]) {
      go(name);
      await settle();
    }
    await Promise.all(works);
    expect(order).toEqual(["1 begins", "a begins", "1 ends", "2 begins", "2 ends", "3 begins", "a ends", "3 ends"]);
  });

  it("wait in a bounded number", async () => {
    const { leases } = createLeased({ limits: { maxQueued: 2 } });
    const lease = await leases.acquire({ owner: "ann", ...python });
    const abort = new AbortController();
    const works = [1, 2, 3, 4].map(() => codeOf(lease.run(["resist"], { signal: abort.signal })));
    expect(await works[3]).toBe("QUEUE_FULL");
    abort.abort("enough");
    expect((await Promise.all(works)).slice(0, 3)).toEqual(["enough", "enough", "enough"]);
    expect((await lease.run(["exit", "0"])).exitCode).toBe(0);
  });

  it("that are aborted while they wait never start", async () => {
    const { order, step, go } = createSteps();
    const { leases } = createLeased({ memory: { programs: { step } } });
    const lease = await leases.acquire({ owner: "ann", ...python });
    const first = lease.run(["step", "1"]);
    const abort = new AbortController();
    const second = codeOf(lease.run(["step", "2"], { signal: abort.signal }));
    const third = lease.run(["step", "3"]);
    await settle();
    abort.abort("not wanted");
    expect(await second).toBe("not wanted");
    go("1");
    await settle();
    go("3");
    await Promise.all([first, third]);
    expect(order).toEqual(["1 begins", "1 ends", "3 begins", "3 ends"]);
  });

  it("keep their turn until the work has ended, also when its caller went before", async () => {
    let end: (() => void) | undefined;
    const { leases } = createLeased({
      memory: {
        onStep: ({ call }) =>
          call === "open"
            ? new Promise((resolve) => {
                end = resolve;
              })
            : undefined,
      },
    });
    const lease = await leases.acquire({ owner: "ann", ...python });
    const abort = new AbortController();
    const opening = codeOf(lease.open(["copy"], { signal: abort.signal }));
    await settle();
    abort.abort("gone");
    expect(await opening).toBe("gone");
    let isRun = false;
    const next = lease.run(["exit"]).then(() => {
      isRun = true;
    });
    await settle();
    expect(isRun).toBe(false);
    end?.();
    await next;
    expect(lease.usage().processes).toBe(0);
  });

  it("may leave a bounded number of processes open", async () => {
    const { leases } = createLeased({ limits: { maxOpened: 2 } });
    const lease = await leases.acquire({ owner: "ann", ...python });
    const first = await lease.open(["copy"]);
    await lease.open(["copy"]);
    expect(await codeOf(lease.open(["copy"]))).toBe("QUOTA_REACHED");
    await first.close();
    await settle();
    await lease.open(["copy"]);
  });
});

/** A file with the name of a wheel; the provider in memory installs nothing. */
function approvedWheel(): { path: string; sha256: string } {
  const folder = mkdtempSync(join(tmpdir(), "berth-wheel-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "one-1.0-py3-none-any.whl");
  writeFileSync(path, "wheel");
  return { path, sha256: createHash("sha256").update("wheel").digest("hex") };
}

describe("what a lease gives of its environment", () => {
  it("is every operation, and what is enforced", async () => {
    const { leases } = createLeased();
    const lease = await leases.acquire({ owner: "ann", profile: "open" });
    expect(lease).toMatchObject({ isolated: true, workspace: "/workspace", interpreter: "python3", profile: "open" });
    expect(lease.enforced.map(({ limit }) => limit)).toEqual(["workspaceBytes", "tmpBytes"]);
    const process = await lease.open(["copy"]);
    process.stream.end("through");
    let seen = "";
    for await (const chunk of process.stream) seen += String(chunk);
    expect(seen).toBe("through");
    expect(text((await lease.installPackages([approvedWheel()])).stdout)).toBe("installed 1\n");
    expect(await codeOf(lease.installPackages([]))).toBe("WHEEL_REFUSED");
    const response = await lease.requestResource({ port: 8080, method: "GET", path: "/x" });
    expect([response.status, text(response.body)]).toEqual([200, "/x"]);
    const terminal = await lease.openTerminal();
    terminal.resize(80, 24);
    await terminal.write(Buffer.from("abc"));
    expect(text(await terminal.read({ maxBytes: 2 }))).toBe("ab");
    await terminal.close();
    expect(lease.usage()).toEqual({ memoryBytes: undefined, processes: 0 });
  });

  it("is refused where the profile does not grant it", async () => {
    const { leases } = createLeased();
    const lease = await leases.acquire({ owner: "ann", ...python });
    expect(await codeOf(lease.openTerminal())).toBe("SHELL_NOT_GRANTED");
    expect(await codeOf(lease.installPackages([]))).toBe("PACKAGES_NOT_GRANTED");
    expect(await codeOf(lease.requestResource({ port: 8080, method: "GET", path: "/" }))).toBe("EXPOSURE_NOT_GRANTED");
    expect(await codeOf(lease.run(["no such program"]))).toBe("COMMAND_NOT_STARTED");
    expect(await codeOf(lease.run([]))).toBe("PAYLOAD_INVALID");
  });
});

describe("owners", () => {
  it("cannot tell a foreign lease from none: the same error, by the same calls of the store", async () => {
    const calls: string[] = [];
    const inner = createMemoryLeaseStore();
    const { leases } = createLeased({
      store: {
        ...inner,
        get(id) {
          calls.push("get");
          return inner.get(id);
        },
        list(filter) {
          calls.push("list");
          return inner.list(filter);
        },
      },
    });
    const lease = await leases.acquire({ owner: "ann", ...python });
    const seen: unknown[] = [];
    for (const id of [lease.id, "0".repeat(32), "", "x".repeat(1_000)]) {
      for (const ask of [() => leases.get(id, "bob"), () => leases.release(id, { owner: "bob" })]) {
        calls.length = 0;
        const error = await ask().catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(LeaseError);
        seen.push([error instanceof LeaseError && [error.code, error.message], [...calls]]);
      }
      expect(leases.find(id, "bob")).toBeUndefined();
    }
    expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(await leases.list({ owner: "bob" })).toEqual([]);
    expect(leases.find(lease.id, "ann")).toBe(lease);
    expect((await leases.get(lease.id, "ann")).id).toBe(lease.id);
    expect((await leases.get(lease.id)).id).toBe(lease.id);
  });

  it("have a bounded number of leases, and get the place back with a release", async () => {
    const { leases } = createLeased({ limits: { maxPerOwner: 2 } });
    const acquire = (owner: string): Promise<Lease> => leases.acquire({ owner, ...python });
    const both = await Promise.allSettled([acquire("ann"), acquire("ann"), acquire("ann")]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    await acquire("bob");
    expect(await codeOf(acquire("ann"))).toBe("QUOTA_REACHED");
    const [first] = both;
    if (first?.status === "fulfilled") await first.value.release();
    await acquire("ann");
  });

  it("share a bounded number, warm ones and those that are being cleaned up included", async () => {
    const { leases, store } = createLeased({ limits: { maxTotal: 3 }, memory: { presence: () => "unknown" } });
    const lease = await leases.acquire({ owner: "ann", ...python });
    await leases.warm(python);
    await codeOf(lease.release());
    await leases.acquire({ owner: "ann", ...python });
    expect(await codeOf(leases.acquire({ owner: "bob", ...python }))).toBe("QUOTA_REACHED");
    expect(await codeOf(leases.warm(python))).toBe("QUOTA_REACHED");
    expect((await store.list()).length).toBe(3);
  });

  it("that leave workers behind which resist get no further ones beyond twice their number", async () => {
    const { leases } = createLeased({ limits: { maxPerOwner: 2 }, memory: { presence: () => "unknown" } });
    let count = 0;
    for (;;) {
      const acquired = await leases.acquire({ owner: "ann", ...python }).catch(() => undefined);
      if (acquired === undefined) break;
      count += 1;
      await codeOf(acquired.release());
    }
    expect(count).toBe(4);
    await leases.acquire({ owner: "bob", ...python });
  });
});
