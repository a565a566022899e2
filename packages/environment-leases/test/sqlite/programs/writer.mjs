// Opens the store named by its argument and takes leases through their states, as fast as it can. A line on stdout for
// each write that was acknowledged: id, generation. Also `open` when it has the lock, or the code of a refusal.
import { randomBytes } from "node:crypto";
import { writeSync } from "node:fs";
import { openSqliteLeaseStore } from "../../../dist/sqlite.js";

const say = (line) => writeSync(1, `${line}\n`);

const newLease = () => ({
  id: randomBytes(16).toString("hex"),
  owner: "a",
  profile: "python",
  provider: "none",
  worker: `mcp-${randomBytes(12).toString("hex")}`,
  state: "reserved",
  generation: 1,
  createdAt: Date.now(),
  expiresAt: Date.now() + 60_000,
  ceilingAt: Date.now() + 120_000,
  idleMs: undefined,
  lastUsedAt: Date.now(),
  host: "writer",
  cleanupAttempts: 0,
  endReason: undefined,
  endedAt: undefined,
  lastError: undefined,
  labels: { text: "x".repeat(Math.floor(Math.random() * 2_000)) },
});

async function writeOn(store) {
  for (;;) {
    const lease = newLease();
    await store.insert(lease);
    say(`${lease.id} 1`);
    store.touch(lease.id, Date.now());
    await store.update(lease.id, 1, { state: "active" });
    say(`${lease.id} 2`);
    if (Math.random() < 0.3) continue;
    await store.update(lease.id, 2, { state: "releasing", endReason: "released" });
    say(`${lease.id} 3`);
    await store.update(lease.id, 3, { state: "released", endedAt: 1 });
    say(`${lease.id} 4`);
    if (Math.random() < 0.2) say(`pruned ${await store.prune(2)}`);
  }
}

try {
  const store = await openSqliteLeaseStore({ path: process.argv[2], touchMs: 1 });
  say("open");
  if (process.argv[3] === "hold") process.stdin.resume();
  else await writeOn(store);
} catch (error) {
  say(error.code ?? String(error));
}
