import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openChain, readChain, verifyLog } from "@berth/audit-chain";

const directory = join(mkdtempSync(join(tmpdir(), "berth-audit-")), "my-log");
const chain = await openChain({ directory, now: Date.now });
try {
  await chain.append({ type: "session.open", session: "s1" });
  const intent = await chain.append({ type: "call.intent", session: "s1", tool: "echo", requestBytes: 120 });
  await chain.append({ type: "call.outcome", session: "s1", intent: intent.sequence, responseBytes: 64 });
  await chain.append({ type: "session.close", session: "s1" });
} finally {
  await chain.close();
}

for await (const entry of readChain(directory)) console.log(entry.seq, entry.type);
const report = await verifyLog(directory, { strict: true });
console.log(report.ok, report.entries, report.problems);
