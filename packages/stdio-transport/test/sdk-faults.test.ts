/**
 * Faults of the official SDKs' transports that this one must not have; the numbers are those of our own list of them.
 * Rows that the decoder alone decides are tested where it lives, in packages/jsonrpc-framing/test/frame-decoder.contract.ts:
 *   1 (quadratic joining of chunks): "takes time linear in the size of a message that comes in 1 KiB chunks"
 *   2 (an empty remainder keeps memory): "keeps no reference to a chunk when nothing is held"
 *   3 (a limit over message and neighbours): the boundary rows 99, 100, 101 with a second message in the chunk
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { openChildOn } from "../src/child.js";
import { thisHost } from "../src/host-system.js";
import { createStreamTransport } from "../src/index.js";
import { sdkTransport } from "../src/sdk.js";
import { childrenOfThisFile, longGraces, type Opened, python, sh } from "./children.js";
import { bearersOf } from "./living.js";
import { failure, soon } from "./recorder.js";

const opened = childrenOfThisFile();
const itWithPython = partTest("python3");
const program = (name: string): string => fileURLToPath(new URL(`programs/${name}`, import.meta.url));
const request = (id: number, method: string, params: object = {}): Uint8Array =>
  Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
const answers = (options: { maxFrameBytes?: number } = {}): Promise<Opened> =>
  opened({ ...python("answers.py"), graceMs: longGraces, ...options });

describe("a large message", () => {
  itWithPython("row 4: over the limit fails its own call with the real cause, and no other", async () => {
    const { child } = await opened({ ...python("answers.py") }, false);
    const sdk = sdkTransport(child.transport);
    const messages: object[] = [];
    const done = new Promise<void>((resolve) => {
      sdk.onmessage = (message) => messages.push(message) === 3 && resolve();
    });
    await sdk.start();
    const call = (id: number, method: string, params: object): Promise<void> =>
      sdk.send(Object.assign({ jsonrpc: "2.0" as const }, { id, method, params }));
    await Promise.all([
      call(1, "echo", { text: "before" }),
      call(2, "large", { size: 17 * 1_048_576 }),
      call(3, "echo", { text: "after" }),
    ]);
    await soon(done, "three answers");
    expect(messages).toMatchObject([
      { id: 1, result: { text: "before" } },
      { id: 2, error: { data: { reason: "FRAME_TOO_LARGE" } } },
      { id: 3, result: { text: "after" } },
    ]);
  });

  itWithPython("row 5: without an end is passed over in constant memory", async () => {
    const { child, recorder } = await answers({ maxFrameBytes: 65_536 });
    await child.transport.send(request(1, "echo"));
    await recorder.framesCame(1);
    const before = process.memoryUsage().rss;
    await child.transport.send(request(2, "endless", { size: 256 * 1_048_576 }));
    await soon(recorder.framesCame(2), "the answer after it", 25_000);
    expect(recorder.oversize).toMatchObject([{ byteLength: 256 * 1_048_576 }]);
    expect(process.memoryUsage().rss - before).toBeLessThan(128 * 1_048_576);
  });
});

describe("sending", () => {
  it("row 6: 64 times 1 MiB under back-pressure adds no listener for each, and waits", async () => {
    const writable = new PassThrough();
    const transport = createStreamTransport({ readable: new PassThrough(), writable, maxQueuedBytes: 80 * 1_048_576 });
    const before = writable.eventNames().map((name) => writable.listenerCount(name));
    const frame = Buffer.from(`{"a":"${"x".repeat(1_048_576)}"}`);
    let settled = 0;
    const sends = Array.from({ length: 64 }, () => transport.send(frame).then(() => settled++));
    await new Promise(setImmediate);
    expect(settled).toBeLessThan(3);
    expect(writable.listenerCount("drain")).toBe(0);
    expect(writable.eventNames().map((name) => writable.listenerCount(name))).toEqual(before);
    writable.resume();
    await soon(Promise.all(sends), "the sends");
    await transport.close();
  });

  itWithPython("row 7: settles when the child dies while its pipe is full", async () => {
    const { child, recorder } = await opened(python("stubborn.py"));
    await recorder.framesCame(1);
    const sent = failure(child.transport.send(Buffer.from(`{"a":"${"x".repeat(4_000_000)}"}`)));
    process.kill(child.pid, "SIGKILL");
    expect(await soon(sent, "the failure")).toMatchObject({ code: "TRANSPORT_CLOSED" });
  });

  it("row 10: to a client that closed our stdout is a rejected `send`, not an unhandled EPIPE", async () => {
    const server = spawn(process.execPath, [program("stream-server.mjs")], { stdio: "pipe" });
    const said: string[] = [];
    server.stderr.on("data", (chunk) => said.push(String(chunk)));
    const ended = once(server, "close");
    server.stdin.write('{"n":1}\n');
    await once(server.stdout, "data");
    server.stdout.destroy();
    server.stdin.write('{"n":2}\n');
    expect(await soon(ended, "the end")).toEqual([0, null]);
    expect(said.join("")).toBe("TRANSPORT_CLOSED EPIPE\n");
  });
});

describe("a child", () => {
  itWithPython("row 8: that writes 9 MB to a stderr which nobody asked for is not blocked by it", async () => {
    const { child, recorder } = await opened(python("stderr_flood.py", "9000000"));
    await soon(recorder.framesCame(1), "the answer");
    await child.close();
    expect(child.stderr.byteCount).toBe(9_000_000);
  });

  it("row 9: that ignores the end of its input is ended all the same", async () => {
    const args = ["-e", "process.stdin.resume(); setInterval(() => {}, 1000); console.log('{}')"];
    const { child, recorder, token } = await opened({ file: process.execPath, args, graceMs: { inputMs: 100 } });
    await recorder.framesCame(1);
    await soon(child.close(), "the close");
    expect(await child.exited).toEqual({ code: null, signal: "SIGTERM" });
    expect(bearersOf(token)).toEqual([]);
  });

  it("row 9: that serves over our transport ends with its input, though a timer runs", async () => {
    const { child } = await opened({
      file: process.execPath,
      args: [program("stream-server.mjs")],
      graceMs: longGraces,
    });
    await soon(child.close(), "the close");
    expect(await child.exited).toEqual({ code: 0, signal: null });
  });

  itWithPython("row 11: that was started by a wrapper, as npx and uvx do, leaves no orphan", async () => {
    const { file, args } = python("stubborn.py");
    const wrapper = sh(`"$@"; exit 0`, file, ...args);
    const { child, recorder, token } = await opened({ ...wrapper, graceMs: { inputMs: 0, terminateMs: 100 } });
    await recorder.framesCame(1);
    await expect.poll(() => bearersOf(token)).toHaveLength(2);
    await soon(child.close(), "the close");
    expect(bearersOf(token)).toEqual([]);
  });

  itWithPython("row 12: whose grandchild holds stdout is closed as soon as it has ended", async () => {
    const { child, recorder, token } = await opened({ ...python("family.py", "setsid"), graceMs: longGraces });
    await recorder.framesCame(1);
    await soon(child.close(), "the close");
    expect(bearersOf(token)).toEqual([]);
  });

  it("row 13: is started once for one transport, whatever the client tries first: see sdk.test.ts", async () => {
    let starts = 0;
    const { child } = await opened({ file: "cat" }, false);
    const sdk = sdkTransport(async () => {
      starts++;
      return child.transport;
    });
    await sdk.start();
    expect(await failure(sdk.start())).toBeInstanceOf(Error);
    expect(starts).toBe(1);
  });

  itWithPython("row 14: that prints to stdout is told of line by line with its place, and goes on", async () => {
    const { child, recorder } = await answers();
    await child.transport.send(request(1, "noisy"));
    await recorder.framesCame(1);
    expect(recorder.faults.map(({ offset, code }) => [offset, code])).toEqual([
      [0, "FRAME_NOT_JSON"],
      [22, "FRAME_NOT_UTF8"],
    ]);
    expect(recorder.log).toHaveLength(3);
    expect(JSON.parse(recorder.frames[0] ?? "")).toMatchObject({ id: 1, result: { text: "after noise" } });
  });

  itWithPython("row 15: that writes its characters byte by byte sends the same frame", async () => {
    const { child, recorder } = await answers();
    const text = "é漢😀\u2028\u2029\u0085 \\r end";
    await child.transport.send(request(1, "bytewise", { text }));
    await recorder.framesCame(1);
    expect(JSON.parse(recorder.frames[0] ?? "")).toEqual({ jsonrpc: "2.0", id: 1, result: { text } });
    expect(recorder.faults).toEqual([]);
  });

  it.each(["npx.cmd", "C:\\tools\\server.BAT", "npx"])("row 16: %s on Windows is refused with advice", async (file) => {
    const host = { ...thisHost(), platform: "win32" as const };
    const error = await failure(openChildOn(host, { file, args: ["& calc"], env: {} }));
    expect(error).toMatchObject({ code: "PLATFORM_UNSUPPORTED", message: expect.stringMatching(/cmd\.exe|WSL/) });
  });

  itWithPython("that dies fails what is sent to it later, with the way it ended", async () => {
    const { child, recorder } = await answers();
    await child.transport.send(request(1, "die"));
    expect(await soon(recorder.closed, "the close")).toMatchObject({ code: "CHILD_EXITED" });
    expect(await failure(child.transport.send(request(2, "echo")))).toMatchObject({
      code: "TRANSPORT_CLOSED",
      cause: { code: "CHILD_EXITED", message: "the command ended with code 5" },
    });
  });
});
