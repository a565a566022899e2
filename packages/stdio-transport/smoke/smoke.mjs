// The contract in short, on every Node that the package promises to run on.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import {
  createStreamTransport,
  isStdioTransportError,
  listedEnvironment,
  openChild,
  probeContainment,
  sweepChildren,
} from "@berth/stdio-transport";
import { createMemoryPair } from "@berth/stdio-transport/memory";
import { sdkTransport } from "@berth/stdio-transport/sdk";

const registry = mkdtempSync(join(tmpdir(), "berth-transport-smoke-"));
test.after(() => rmSync(registry, { recursive: true, force: true }));
const env = listedEnvironment(process.env);
const bytes = (text) => Buffer.from(text);

/** Resolves with the next frame, and with the cause of the close. */
function listen(transport) {
  let closed;
  const frame = new Promise((resolve, reject) => {
    closed = new Promise((tellClosed) => {
      transport.start({
        onFrame: (received) => resolve(Buffer.from(received.bytes).toString()),
        onFault: reject,
        onClose: tellClosed,
      });
    });
  });
  frame.catch(() => undefined);
  return { frame, closed };
}

test("frames cross streams of the caller, which stay open", async () => {
  const readable = new PassThrough();
  const writable = new PassThrough();
  const transport = createStreamTransport({ readable, writable });
  const { frame } = listen(transport);
  readable.write('{"a":1}\n');
  assert.equal(await frame, '{"a":1}');
  await transport.send(bytes('{"b":2}'));
  assert.equal(String(writable.read()), '{"b":2}\n');
  await transport.close();
  assert.deepEqual([readable.destroyed, writable.writableEnded], [false, false]);
  await assert.rejects(transport.send(bytes("{}")), { code: "TRANSPORT_CLOSED" });
});

test("frames cross a pair in memory, and the SDK adapter", async () => {
  const [left, right] = createMemoryPair();
  const sdk = sdkTransport(left);
  const heard = new Promise((resolve) => {
    sdk.onmessage = resolve;
  });
  await sdk.start();
  const { frame } = listen(right);
  await sdk.send({ jsonrpc: "2.0", id: 1, method: "ping" });
  assert.deepEqual(JSON.parse(await frame), { jsonrpc: "2.0", id: 1, method: "ping" });
  await right.send(bytes('{"jsonrpc":"2.0","id":1,"result":{}}'));
  assert.deepEqual(await heard, { jsonrpc: "2.0", id: 1, result: {} });
  await sdk.close();
});

for (const containment of ["auto", "group"]) {
  test(`a child answers, is recorded, and is gone after close (${containment})`, async () => {
    const child = await openChild({ file: "/bin/cat", args: [], env, containment, registry });
    const { frame } = listen(child.transport);
    await child.transport.send(bytes('{"n":1}'));
    assert.equal(await frame, '{"n":1}');
    if (process.platform === "linux") assert.equal(readdirSync(registry).length, 1);
    await child.close();
    assert.deepEqual(await child.exited, { code: 0, signal: null });
    await child.ended;
    assert.deepEqual(readdirSync(registry), []);
    assert.equal(existsSync(`/proc/${child.pid}`), false);
  });

  test(`an exit is not a failed start (${containment})`, async () => {
    const script = "echo 'not well' >&2; read -r line; exit 3";
    const child = await openChild({ file: "/bin/sh", args: ["-c", script], env, containment });
    const { closed } = listen(child.transport);
    await child.transport.send(bytes("{}"));
    assert.equal((await closed).code, "CHILD_EXITED");
    assert.deepEqual(await child.exited, { code: 3, signal: null });
    await child.close();
    assert.deepEqual([child.stderr.byteCount, Buffer.from(child.stderr.tail()).toString()], [9, "not well\n"]);
    await assert.rejects(openChild({ file: "/nowhere/x", args: [], env, containment }), (error) => {
      return isStdioTransportError(error) && error.code === "CHILD_NOT_STARTED" && error.reason === "ENOENT";
    });
  });
}

test("the machine's containment is told, and a sweep of nothing finds nothing", async () => {
  assert.match((await probeContainment()).containment, /^(namespace|group)$/);
  if (process.platform === "linux") assert.deepEqual((await sweepChildren(registry)).ended, []);
});
