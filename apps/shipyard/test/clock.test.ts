import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, vi } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { living, rowsOf } from "./remains.js";
import { ask, type Served, scratchFolder, serve, shipyard, writeConfig } from "./shipyard.js";

const preload = fileURLToPath(new URL("programs/set-clock.mjs", import.meta.url));
const hour = 3_600_000;
const withinMs = { timeout: 60_000, interval: 50 };
const testMs = 180_000;

interface Clocked {
  readonly state: string;
  /** A server whose wall clock is off by so much. */
  start(offMs: number): Promise<Served>;
  /** Somebody sets the clock of a running server. */
  set(server: Served, offMs: number): Promise<void>;
}

function clocked(): Clocked {
  const folder = scratchFolder();
  const clock = join(folder, "clock");
  const config = writeConfig(folder, [
    "profiles: { python: { template: /usr/bin/python3 } }",
    "sessions: { warmWorkers: 0 }",
    "leases: { sweepMs: 100 }",
  ]);
  const state = join(folder, "s");
  return {
    state,
    start(off) {
      writeFileSync(clock, String(off));
      const options = { nodeArgs: ["--import", preload], env: { BERTH_CLOCK: clock } };
      return serve(["--config", config, "--state", state], options);
    },
    async set(server, off) {
      writeFileSync(clock, String(off));
      process.kill(server.pid, "SIGUSR2");
      await vi.waitFor(() => expect(server.stderr().split("\n")).toContain(`{"clock":${off}}`), withinMs);
    },
  };
}

async function startSession({ url }: Served, id: string, ttlMs: number): Promise<void> {
  expect(await ask(`${url}/v1/sessions`, { session_id: id, ttl_ms: ttlMs })).toMatchObject({ status: 201 });
}

const execute = ({ url }: Served, id: string): ReturnType<typeof ask> =>
  ask(`${url}/v1/sessions/${id}/execute`, { code: "1 + 1" });

/** Waits until only so many of the rows have not ended; gives the reasons of those that have. */
async function reasonsOnce(state: string, left: number): Promise<readonly unknown[]> {
  return vi.waitFor(async () => {
    const rows = await rowsOf(state);
    expect(rows.filter(({ endedAt }) => endedAt === undefined)).toHaveLength(left);
    const ended = rows.filter(({ endedAt }) => endedAt !== undefined);
    expect(living(ended.map(({ worker }) => worker))).toEqual([]);
    return ended.map(({ endReason }) => endReason);
  }, withinMs);
}

describe("a server whose wall clock is set while it holds leases", () => {
  const test = partTest("bubblewrap", "python3");

  test(
    "ends none of them early and none of them late, whichever way it is set",
    async () => {
      const place = clocked();
      const server = await place.start(0);
      await startSession(server, "long", 900_000);
      await startSession(server, "short", 3_000);
      await place.set(server, -hour);
      expect(await reasonsOnce(place.state, 1)).toEqual(["expired"]);
      expect(await execute(server, "long")).toMatchObject({ status: 200 });
      await place.set(server, hour);
      const swept = await shipyard(["leases", "sweep", "--state", place.state, "--json"]);
      expect(JSON.parse(swept.stdout)).toMatchObject({ ended: 0, released: 0, unconfirmed: 0 });
      expect(await execute(server, "long")).toMatchObject({ status: 200 });
      await startSession(server, "other", 3_000);
      expect(await reasonsOnce(place.state, 1)).toHaveLength(2);
      await server.kill("SIGTERM");
      expect(await reasonsOnce(place.state, 0)).toHaveLength(3);
    },
    testMs,
  );

  for (const [name, before, after] of [
    ["back", hour, 0],
    ["forward", 0, hour],
  ] as const) {
    test(
      `that is killed, and its clock is set ${name} before the next one starts, leaves nothing`,
      async () => {
        const place = clocked();
        const server = await place.start(before);
        await startSession(server, "long", 900_000);
        await server.kill("SIGKILL");
        const later = await place.start(after);
        // Whether its sandbox was gone before the next one looked is a matter of milliseconds.
        expect(String(await reasonsOnce(place.state, 0))).toMatch(/^(recovery|lost|expired)$/);
        await startSession(later, "long", 900_000);
        expect(await execute(later, "long")).toMatchObject({ status: 200 });
        await later.kill("SIGTERM");
        expect(await reasonsOnce(place.state, 0)).toHaveLength(2);
      },
      testMs,
    );
  }

  test(
    "and that hangs, has its sandbox end at the time of its lease all the same",
    async () => {
      const place = clocked();
      const server = await place.start(0);
      await place.set(server, -hour);
      await startSession(server, "short", 2_000);
      const workers = (await rowsOf(place.state)).map(({ worker }) => worker);
      expect(living(workers)).toEqual(workers);
      process.kill(server.pid, "SIGSTOP");
      await vi.waitFor(() => expect(living(workers)).toEqual([]), withinMs);
      expect(await rowsOf(place.state)).toMatchObject([{ state: "active" }]);
      process.kill(server.pid, "SIGCONT");
      expect(await reasonsOnce(place.state, 0)).toEqual(["expired"]);
    },
    testMs,
  );
});
