// A real writer for tests that kill it: appends entries and tells of each acknowledgement at once, on stdout.
//   node writer.mjs DIRECTORY DURABILITY COUNT [PAYLOAD_BYTES]     COUNT 0: until it is killed
import { writeSync } from "node:fs";
import { openChain } from "@berth/audit-chain";

// Node gives signals back their default, which for a file over the limit is death; with a listener the write fails.
process.on("SIGXFSZ", () => {});

const [directory, durability, count, payload = "20"] = process.argv.slice(2);
const text = "x".repeat(Number(payload));
try {
  const chain = await openChain({ directory, durability, now: Date.now, maxSegmentBytes: 262_144 });
  writeSync(1, `open ${process.pid}\n`);
  for (let index = 0; index < Number(count) || count === "0"; index += 1) {
    const { sequence, hash } = await chain.append({ type: "note", pid: process.pid, index, text });
    writeSync(1, `ack ${sequence} ${hash}\n`);
    // A turn of the event loop, so that syncs and signals get theirs.
    if (index % 16 === 15) await new Promise((resolve) => setImmediate(resolve));
  }
  await chain.close();
  writeSync(1, "closed\n");
} catch (error) {
  writeSync(
    1,
    `error ${JSON.stringify({ code: error.code, message: error.message, owner: error.owner, cause: error.cause?.code })}\n`,
  );
  process.exitCode = 1;
}
