import fc from "fast-check";
import { expect, it } from "vitest";
import { ProcessPluginError } from "../../src/errors.js";
import { readPluginFrame } from "../../src/pipe/plugin-frame.js";
import { halfInMemory, meta, openTestClient } from "./half-in-memory.js";
import { handScheduler } from "./hand-scheduler.js";

const good = fc.constantFrom(
  '{"jsonrpc":"2.0","id":1,"result":{}}',
  '{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"x"}}',
  '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
  '{"jsonrpc":"2.0","method":"ave/instance/log","params":{"level":"info","message":"x"}}',
);
const anyLine = fc.oneof(
  { weight: 4, arbitrary: good.map((line) => Buffer.from(line)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.json().map((json) => Buffer.from(json)) },
);

/** Plays a plugin's bytes, cut in pieces, and gives what its host made of them. */
async function play(bytes: Buffer, sizes: readonly number[]): Promise<readonly string[]> {
  const { half, pipe, faults, writeBytes, ended } = halfInMemory();
  const told: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    half.ask("tools/call", JSON.parse(`{${meta()}}`), ({ kind }) => void told.push(`${n} ${kind}`));
  }
  let rest = bytes;
  for (const size of [...sizes, bytes.length]) {
    if (rest.length > 0) writeBytes(rest.subarray(0, size));
    rest = rest.subarray(size);
  }
  await ended();
  pipe.end(new ProcessPluginError("PLUGIN_EXITED", "over"));
  expect(faults.length).toBeLessThanOrEqual(1);
  expect(told).toHaveLength(3);
  return [...told, ...faults.map(({ code, message, excerpt }) => `${code} ${message} ${excerpt}`)];
}

it("whatever a plugin writes, each call has one end and the plugin at most one fault, the same however its bytes come", async () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(fc.array(anyLine, { maxLength: 8 }), cuts, async (lines, sizes) => {
      const bytes = Buffer.concat(lines.map((line) => Buffer.concat([line, Buffer.from("\n")])));
      expect(await play(bytes, sizes)).toEqual(await play(bytes, []));
    }),
    { numRuns: 150 },
  );
});

it("the fault names the byte of the stream", async () => {
  const first = '{"jsonrpc":"2.0","id":1,"result":{}}\n';
  const [, , , fault] = await play(Buffer.from(`${first}{"jsonrpc":"2.0","id":99,"result":{}}\n`), []);
  expect(fault).toContain(`at byte ${first.length + '{"jsonrpc":"2.0","id":'.length} of its output`);
});

it("no bytes make the reading of a line throw", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.json().map((json) => Buffer.from(json)),
      ),
      (bytes) => {
        expect(["fault", "answer", "notification"]).toContain(readPluginFrame(bytes).kind);
      },
    ),
  );
});

it.each([
  { line: '{"jsonrpc":"2.0","id":7.0,"result":{}}', kind: "answer" },
  { line: '{"jsonrpc":"2.0","id":7,"result":{},"more":1}', kind: "answer" },
  { line: '{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x"}}', kind: "answer" },
  { line: '{"jsonrpc":"2.0","id":7,"error":{"code":1}}', kind: "fault" },
  { line: '{"jsonrpc":"2.0","id":7,"error":"x"}', kind: "fault" },
  { line: '{"jsonrpc":"2.0","id":7,"result":null}', kind: "fault" },
  { line: '{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"x"}}', kind: "fault" },
  { line: '{"jsonrpc":"1.0","id":7,"result":{}}', kind: "fault" },
  { line: '{"id":7,"result":{}}', kind: "fault" },
  { line: '{"jsonrpc":"2.0","id":null,"result":{}}', kind: "fault" },
  { line: '{"jsonrpc":"2.0","id":7,"result":{"a":tru}}', kind: "fault" },
  { line: '{"jsonrpc":"2.0","id":7,"result":{"a":1,}}', kind: "fault" },
  { line: '{"jsonrpc":"2.0","id":7,"result":{"a":"\u0001"}}', kind: "fault" },
  { line: '{"jsonrpc":"2.0","method":"x","result":{}}', kind: "fault" },
  { line: '{"jsonrpc":"2.0","method":"x","params":5}', kind: "fault" },
  { line: "[]", kind: "fault" },
  { line: '"x"', kind: "fault" },
])("$line is $kind", ({ line, kind }) => {
  expect(readPluginFrame(Buffer.from(line)).kind).toBe(kind);
});

it("more notifications than anybody could want are read a second later, and no byte is lost", async () => {
  const scheduler = handScheduler();
  const { half, writeBytes, unplaced, readMessage } = halfInMemory({ scheduler });
  const client = openTestClient(half);
  await client.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${meta()}}}`);
  await readMessage();
  const line = Buffer.from('{"jsonrpc":"2.0","method":"x"}\n');
  const block = Buffer.concat(Array.from({ length: 1_000 }, () => line));
  for (let n = 0; n < 25; n += 1) writeBytes(block);
  writeBytes(Buffer.from('{"jsonrpc":"2.0","id":1,"result":{}}\n'));
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  for (let n = 0; n < 50; n += 1) await settled();
  expect(unplaced.length).toBeGreaterThanOrEqual(10_000);
  expect(unplaced.length).toBeLessThan(15_000);
  expect(client.waiting).toEqual([]);
  for (let n = 0; n < 3; n += 1) {
    scheduler.pass(1_000);
    for (let turn = 0; turn < 50; turn += 1) await settled();
  }
  expect(unplaced.length).toBe(25_000);
  expect(await client.next()).toBe('{"jsonrpc":"2.0","id":1,"result":{}}');
});

it("a call that is not answered in time is answered to its client with an error, and cancelled at the plugin", async () => {
  const scheduler = handScheduler();
  const { half, read, readMessage } = halfInMemory({ scheduler });
  const client = openTestClient(half);
  await client.send(`{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{${meta()}}}`);
  await client.send(`{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{${meta()}}}`);
  await readMessage();
  await readMessage();
  scheduler.pass(60_000);
  expect(JSON.parse(await client.next())).toEqual({
    jsonrpc: "2.0",
    id: "slow",
    error: { code: -32603, message: "no answer in time", data: { reason: "PLUGIN_TIMEOUT" } },
  });
  expect((await read()).toString()).toBe(
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
  );
  expect(client.waiting).toEqual([]); // a subscription lasts
});
