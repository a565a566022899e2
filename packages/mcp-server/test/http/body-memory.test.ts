import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { collectBody, holdBody } from "../../src/http/body.js";
import { type HttpServerLimits, readHttpBounds } from "../../src/http/limits.js";
import type { Surroundings } from "../../src/http/served-exchange.js";

const surroundings = (limits: HttpServerLimits = {}): Surroundings => ({
  bounds: readHttpBounds(limits),
  bufferedBytes: 0,
  workedBytes: 0,
  unsentBytes: 0,
  leaving: 0,
});
const freeBytes = 16_384;

// From inside: what a body costs in memory cannot be seen from without.
describe("the body of a request", () => {
  it("comes out as it came in, however it is cut, and leaves nothing counted", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 60 }), fc.boolean(), (chunks, isDeclared) => {
        const around = surroundings();
        const whole = Buffer.concat(chunks);
        const body = collectBody(isDeclared ? String(whole.length) : undefined, 4_096, around);
        for (const chunk of chunks) body.add(chunk);
        expect(Buffer.from(body.take()).equals(whole)).toBe(true);
        expect(around.bufferedBytes).toBe(0);
      }),
    );
  });

  it("in chunks of one byte is held in one buffer, no larger than twice what came", () => {
    const around = surroundings();
    const body = collectBody(undefined, 4_194_304, around);
    const count = 100_000;
    for (let sent = 0; sent < count; sent += 1) body.add(Uint8Array.of(120));
    expect(around.bufferedBytes).toBeGreaterThanOrEqual(count - freeBytes);
    expect(around.bufferedBytes).toBeLessThanOrEqual(2 * count);
    const whole = body.take();
    expect([whole.length, whole.buffer.byteLength <= 2 * count, around.bufferedBytes]).toEqual([count, true, 0]);
  });

  it("counts as what is held for it, before it is held", () => {
    const around = surroundings({ maxBufferedBytes: 1_024 });
    const body = collectBody(undefined, 4_194_304, around);
    body.add(new Uint8Array(freeBytes));
    expect(() => body.add(new Uint8Array(2_000))).toThrow(expect.objectContaining({ status: 503 }));
    body.release();
    body.release();
    expect(around.bufferedBytes).toBe(0);
  });

  it("is not given more room than was declared", () => {
    const around = surroundings();
    const body = collectBody("30000", 4_194_304, around);
    body.add(new Uint8Array(29_999));
    body.add(new Uint8Array(1));
    expect(around.bufferedBytes).toBe(30_000 - freeBytes);
  });

  it("counts as long as its request is worked on, beyond what is free", () => {
    const around = surroundings({ maxInFlightBytes: 1_024 });
    const release = holdBody(freeBytes + 1_000, around);
    expect(() => holdBody(freeBytes + 25, around)).toThrow(expect.objectContaining({ status: 503 }));
    holdBody(freeBytes, around)();
    release();
    expect(around.workedBytes).toBe(0);
  });
});
