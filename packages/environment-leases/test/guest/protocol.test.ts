import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openControl } from "../../src/guest/control-channel.js";
import { type DialListener, listenForDials } from "../../src/guest/dial-listener.js";
import { watchEnding } from "../../src/guest/ending.js";
import { connectAgent, type GuestAgent } from "../../src/guest/guest-agent.js";
import type { GuestFrame } from "../../src/guest/guest-frame.js";
import { collectGuestLimits } from "../../src/guest/guest-limits.js";

// Inner files are tested here, since an agent that breaks its protocol cannot be made from outside.

const running = { started: 1, pid: 7 };

describe("frames of a guest", () => {
  it("are the same however the bytes are cut", () => {
    const frame = fc.oneof(
      fc.record({ started: fc.nat(), pid: fc.nat() }),
      fc.record({ failed: fc.nat(), errno: fc.nat() }),
      fc.record({ exit: fc.nat(), code: fc.nat(), signal: fc.constant(null) }),
    );
    fc.assert(
      fc.property(fc.array(frame), fc.array(fc.nat()), (frames, cuts) => {
        const bytes = Buffer.from(frames.map((each) => `${JSON.stringify(each)}\n`).join(""));
        const read = (pieces: readonly Buffer[]): readonly GuestFrame[] => {
          const stdout = new PassThrough();
          const seen: GuestFrame[] = [];
          openControl(
            { stdin: new PassThrough(), stdout },
            { onFrame: (each) => seen.push(each), onFault: expect.fail },
          );
          for (const piece of pieces) stdout.emit("data", piece);
          return seen;
        };
        const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const pieces = places.slice(1).map((end, at) => bytes.subarray(places[at], end));
        expect(read(pieces)).toEqual(read([bytes]));
        expect(read([bytes])).toHaveLength(frames.length);
      }),
    );
  });
});

describe("an agent", () => {
  const limits = collectGuestLimits({ startTimeoutMs: 100 }, []);
  const withAgent = async (
    run: (parts: {
      agent: GuestAgent;
      say: (line: string) => void;
      heard: () => string;
      faults: readonly string[];
    }) => Promise<void>,
  ): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), "berth-"));
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const faults: string[] = [];
    const written: string[] = [];
    stdin.on("data", (chunk: Buffer) => written.push(chunk.toString()));
    const listener = await listenForDials({ path: join(folder, "d"), bounds: limits });
    const ending = watchEnding(new Promise(() => {}));
    const onFault = (fault: string): void => void faults.push(fault);
    const agent = connectAgent({ stdin, stdout, listener, dialPath: "/d", bounds: limits, ending, onFault });
    await run({ agent, say: (line) => stdout.write(line), heard: () => written.join(""), faults });
    await listener.close();
    rmSync(folder, { recursive: true, force: true });
  };
  const spawn = { op: "spawn", argv: ["true"], env: {}, cwd: "/", stdin: "none" } as const;

  it.each([
    { what: "no JSON", lines: "hello\n" },
    { what: "JSON that is no frame", lines: "[]\n" },
    { what: "a number that is none", lines: '{"started":1,"pid":"7"}\n' },
    { what: "a negative number", lines: '{"started":-1,"pid":7}\n' },
    { what: "an answer to nothing", lines: '{"started":99,"pid":7}\n' },
    { what: "a failure of nothing", lines: '{"failed":99,"errno":2}\n' },
    { what: "the end of nothing", lines: '{"exit":99,"code":0,"signal":null}\n' },
    { what: "an end before the start", lines: '{"exit":1,"code":0,"signal":null}\n' },
    { what: "two answers", lines: `${JSON.stringify(running)}\n${JSON.stringify(running)}\n` },
    { what: "a greeting that nobody asked for", lines: '{"ready":1}\n' },
    { what: "an endless line", lines: "x".repeat(5000) },
    { what: "a long line", lines: `${"x".repeat(5000)}\n` },
    { what: "a status and a signal", lines: '{"started":1,"pid":7}\n{"exit":1,"code":0,"signal":9}\n' },
  ])("that sends $what has lost its environment", ({ lines }) =>
    withAgent(async ({ agent, say, faults }) => {
      const starting = agent.start(spawn, { streams: 2 }).catch(() => {});
      say(lines);
      await starting;
      expect(faults.length).toBeGreaterThan(0);
    }),
  );

  it("that does not answer in time is asked to kill what it may still start", () =>
    withAgent(async ({ agent, say, heard, faults }) => {
      await expect(agent.start(spawn, { streams: 2 })).rejects.toMatchObject({ code: "COMMAND_NOT_STARTED" });
      say(`${JSON.stringify(running)}\n`);
      await new Promise(setImmediate);
      await new Promise(setImmediate);
      expect(heard()).toContain('{"op":"signal","id":1,"signal":9,"group":true}');
      say('{"exit":1,"code":null,"signal":9}\n');
      await new Promise(setImmediate);
      expect(faults).toEqual([]);
    }));

  it("that is silent at its greeting is not waited for", () =>
    withAgent(async ({ agent }) => {
      await expect(agent.hello({ deadlineMs: 1000 })).rejects.toMatchObject({ code: "COMMAND_NOT_STARTED" });
      await expect(agent.hello({ deadlineMs: 1000, signal: AbortSignal.abort("no") })).rejects.toBe("no");
    }));
});

describe("streams that are dialled back", () => {
  let folder: string;
  let listener: DialListener;
  let floods = 0;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "berth-"));
    const bounds = { maxPendingStreams: 4, streamTimeoutMs: 200, maxRefusedStreams: 20 };
    listener = await listenForDials({ path: join(folder, "d"), bounds });
    floods = 0;
    listener.onFlood(() => {
      floods += 1;
    });
  });
  afterEach(async () => {
    await listener.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const dial = async (): Promise<Socket> => {
    const socket = connect(join(folder, "d"));
    socket.on("error", () => {});
    await once(socket, "connect");
    return socket;
  };

  it("lose no byte of what follows the token, however it is cut", async () => {
    for (const cuts of [[32, 64], [1, 31, 33], [40], [32, 33, 34, 64], [64]]) {
      const expected = listener.expect();
      const socket = await dial();
      const bytes = Buffer.from(`${expected.token}${"payload ".repeat(8)}`);
      let from = 0;
      for (const to of [...cuts, bytes.length]) {
        socket.write(bytes.subarray(from, to));
        await new Promise(setImmediate);
        from = to;
      }
      socket.end();
      const stream = await expected.connected;
      const pieces: Buffer[] = [];
      for await (const piece of stream) pieces.push(piece);
      expect(Buffer.concat(pieces).toString()).toBe("payload ".repeat(8));
    }
  });

  it("are cut off with a wrong token, a used one, a cancelled one, and after silence", async () => {
    const used = listener.expect();
    const first = await dial();
    first.write(used.token);
    await used.connected;
    const cancelled = listener.expect();
    cancelled.cancel();
    const late = listener.expect();
    const lateSocket = await dial();
    lateSocket.write(late.token);
    lateSocket.resume();
    await late.connected;
    late.cancel();
    await once(lateSocket, "close");
    for (const said of ["0".repeat(32), used.token, cancelled.token, "", "short"]) {
      const socket = await dial();
      socket.resume();
      if (said !== "") socket.write(said);
      await once(socket, "close");
    }
    expect(floods).toBe(0);
  });

  it("are cut off at once when too many are silent, and told of when they do not stop", async () => {
    const sockets = await Promise.all(Array.from({ length: 40 }, dial));
    await Promise.all(sockets.map((socket) => (socket.closed ? undefined : once(socket.resume(), "close"))));
    expect(floods).toBe(1);
    const expected = listener.expect();
    (await dial()).write(expected.token);
    await expected.connected;
  });
});
