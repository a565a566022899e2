// The contract in short, on every Node that the package promises to run on.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isChainError, openChain, readChain, verifyLog } from "@berth/audit-chain";
import { verifyChain } from "@berth/audit-chain/verify";

const scratch = mkdtempSync(join(tmpdir(), "berth-chain-smoke-"));
test.after(() => rmSync(scratch, { recursive: true, force: true }));

for (const durability of ["each", "batch", "none"]) {
  test(`a log written under ${durability} is read back, verified, and found out when it was changed`, async () => {
    const directory = join(scratch, durability);
    const chain = await openChain({ directory, durability, now: Date.now, monotonic: () => performance.now() });
    await chain.append({ type: "session.open", session: "s" });
    const intent = await chain.append({ type: "call.intent", session: "s", tool: "écho 😂" });
    await chain.append({ type: "call.outcome", session: "s", intent: intent.sequence });
    await assert.rejects(chain.append({ type: "bad", value: Number.NaN }), { code: "NOT_I_JSON" });
    await assert.rejects(openChain({ directory, now: Date.now }), (error) => {
      return isChainError(error) && error.code === "LOCKED" && error.owner.pid === process.pid;
    });
    await chain.append({ type: "session.close", session: "s" });
    await chain.close();

    const types = [];
    for await (const { type } of readChain(directory, { from: 2 })) types.push(type);
    assert.deepEqual(types, ["call.intent", "call.outcome", "session.close"]);
    const report = await verifyLog(directory, { strict: true });
    assert.equal(report.ok, true);
    assert.equal(report.head.sequence, 4);

    const [name] = readdirSync(directory).filter((file) => file.endsWith(".jsonl"));
    const bytes = readFileSync(join(directory, name));
    const sha256 = (data) => createHash("sha256").update(data).digest();
    assert.deepEqual(await verifyChain({ segments: [{ name, chunks: [bytes] }], sha256, strict: true }), report);
    bytes[bytes.indexOf("cho")] ^= 1;
    writeFileSync(join(directory, name), bytes);
    const [problem] = (await verifyLog(directory)).problems;
    assert.equal(`${problem.code} ${problem.seq}`, "HASH_MISMATCH 2");
    await assert.rejects(openChain({ directory, now: Date.now }), { code: "LOG_DAMAGED" });
  });
}
