// The contract in short, on every Node that the package promises to run on.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createSessions, isSessionError } from "@berth/code-sessions";
import { createLeases, createMemoryLeaseStore, createUnconfinedProvider } from "@berth/environment-leases";

test("a session keeps names, says how code ended, and is gone when it is stopped", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "bs-"));
  const provider = await createUnconfinedProvider({ folder });
  const leases = createLeases({
    store: createMemoryLeaseStore(),
    providers: [provider],
    profiles: {
      python: {
        provider: provider.name,
        template: "/usr/bin/python3",
        policy: { network: "internet", elevation: true },
      },
    },
    allowUnconfined: true,
  });
  const sessions = createSessions({ leases, profile: "python", limits: { warmWorkers: 0 } });
  context.after(async () => {
    await sessions.close();
    await leases.close();
    await provider.close();
    rmSync(folder, { recursive: true });
  });
  const session = await sessions.start({ owner: "alice", id: "s" });
  await assert.rejects(sessions.start({ owner: "alice", id: "s" }), (error) => {
    return isSessionError(error) && error.code === "SESSION_EXISTS";
  });
  const first = await session.execute({ code: "print('out')\nx = 20", idempotencyKey: "k" });
  assert.equal(first.stdout.text, "out\n");
  assert.equal(await session.execute({ code: "print('out')\nx = 20", idempotencyKey: "k" }), first);
  assert.equal((await session.execute({ code: "x + 1" })).result, "21");
  assert.equal((await session.execute({ code: "1/0" })).fault.name, "ZeroDivisionError");
  assert.equal((await session.execute({ code: "while True: n = 1", timeoutMs: 100 })).status, "timeout");
  await session.files.write("a/b", Buffer.from("bytes"));
  assert.equal(Buffer.from(await session.files.read("a/b")).toString(), "bytes");
  assert.deepEqual(
    (await session.variables()).map(({ name }) => name),
    ["n", "x"],
  );
  assert.equal((await sessions.executeOnce("bob", { code: "2" })).result, "2");
  assert.equal((await session.execute({ code: "import os\nos._exit(3)" })).status, "dead");
  assert.equal(sessions.status("alice", "s").end.reason, "exit");
});
