// Writes leases until the system refuses to write more of the file (RLIMIT_FSIZE of this process: EFBIG, which SQLite calls an
// I/O error), then says what its store answers, and what it has once it was opened again. argv: path of the store.
import { openSqliteLeaseStore } from "../../../dist/sqlite.js";

const [path] = process.argv.slice(2);
const record = (number) => ({
  ...{ id: number.toString(16).padStart(32, "0"), worker: `mcp-${number.toString(16).padStart(24, "0")}` },
  ...{ owner: "ann", profile: "p", provider: "m", state: "reserved", generation: 1, host: "1:2:3", cleanupAttempts: 0 },
  ...{ createdAt: 1, expiresAt: 2, ceilingAt: 2, lastUsedAt: 1, labels: { text: "x".repeat(3_000) } },
});
const codeOf = (work) =>
  work.then(
    () => "resolved",
    ({ code }) => code,
  );

const store = await openSqliteLeaseStore({ path });
let written = 0;
let failure = "resolved";
while (failure === "resolved") {
  failure = await codeOf(store.insert(record(written)));
  if (failure === "resolved") written += 1;
}
const later = [await codeOf(store.get(record(0).id)), await codeOf(store.prune(0)), await codeOf(store.list())];
await store.close().catch(() => undefined);
const again = await openSqliteLeaseStore({ path });
const found = (await again.list()).length;
await again.close();
process.stdout.write(JSON.stringify({ failure, later, isKept: written > 0 && found >= written }));
