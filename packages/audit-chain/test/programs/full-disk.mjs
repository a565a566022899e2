// Fills a disk with entries, sees what the chain says, makes room, and goes on. Prints one JSON object.
//   node full-disk.mjs DIRECTORY DURABILITY
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openChain, readChain, verifyLog } from "@berth/audit-chain";

const [folder, durability] = process.argv.slice(2);
const directory = join(folder, "log");
const ballast = join(folder, "ballast");
writeFileSync(ballast, Buffer.alloc(256 * 1024));

const options = { directory, durability, now: Date.now, maxSegmentBytes: 131_072 };
const codesOf = ({ code, cause }) => ({ code, cause: cause?.code });
const failing = (promise) => promise.then(() => ({}), codesOf);

const chain = await openChain(options);
let acknowledged = 0;
let failure;
while (failure === undefined) {
  // Several at once, so that a write holds many entries and the disk ends in the middle of one of them.
  const texts = Array.from({ length: 7 }, (_, index) => "x".repeat(3_000 + index));
  const settled = await Promise.allSettled(texts.map((text) => chain.append({ type: "note", text })));
  acknowledged += settled.filter(({ status }) => status === "fulfilled").length;
  failure = settled.find(({ status }) => status === "rejected")?.reason;
}
const head = chain.head;
const next = await failing(chain.append({ type: "note" }));
const flushed = await failing(chain.flush());
const whileFull = await verifyLog(directory, { strict: true });
const closed = await failing(chain.close());
rmSync(ballast);
const reopened = await openChain(options);
const recovered = reopened.recovered ?? null;
await reopened.append({ type: "after" });
await reopened.close();
const after = await verifyLog(directory, { strict: true });
let read = 0;
for await (const { seq } of readChain(directory)) if (seq === read + 1) read += 1;
console.log(
  JSON.stringify({
    acknowledged,
    failure: codesOf(failure),
    head,
    next,
    flushed,
    closed,
    whileFull,
    recovered,
    after,
    read,
  }),
);
