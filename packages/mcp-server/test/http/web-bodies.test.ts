import { expect, it } from "vitest";
import { createHttpHandler, type HttpServerLimits } from "../../src/http.js";
import { call } from "../support/http.js";
import { sampleServer } from "../support/sample.js";

const open = (limits: HttpServerLimits = {}, told: unknown[] = []) =>
  createHttpHandler({
    server: sampleServer(),
    principal: "ada",
    limits,
    logger: () => undefined,
    onUnexpectedError: (error) => void told.push(error),
  });

/** A request whose body comes as these pieces; `undefined` never comes. */
function request(pieces: readonly (string | Error | undefined)[], init: RequestInit = {}): Request {
  const left = [...pieces];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (left.length === 0) controller.close();
      else {
        const piece = left.shift();
        if (piece === undefined) return new Promise(() => undefined);
        if (piece instanceof Error) controller.error(piece);
        else controller.enqueue(Buffer.from(piece));
      }
      return undefined;
    },
  });
  const { headers = {} } = call("sum");
  return new Request("http://localhost/mcp", { method: "POST", headers, body, duplex: "half", ...init });
}
const whole = String(call("sum").body);

it("a body in pieces of one byte is read", async () => {
  await using handler = open();
  expect((await handler.fetch(request([...whole]))).status).toBe(200);
});

it("a body that does not come to its end is 408", async () => {
  await using handler = open({ bodyMs: 20 });
  expect((await handler.fetch(request(["{", undefined]))).status).toBe(408);
});

it("a body that fails, or that somebody reads, is no fault that stays", async () => {
  const told: unknown[] = [];
  await using handler = open({ maxReading: 1, maxBufferedBytes: 1_024 }, told);
  for (let count = 0; count < 3; count += 1) {
    expect((await handler.fetch(request(["x".repeat(17_000), new Error("cut")]))).status).toBe(400);
  }
  expect(told).toEqual([]);
  const used = request([whole]);
  await used.text();
  expect((await handler.fetch(used)).status).toBe(500);
  expect(told).toHaveLength(1);
  expect((await handler.fetch(request([whole]))).status).toBe(200);
});

it("a sender that goes away inside its body frees its place", async () => {
  await using handler = open({ maxReading: 1 });
  const leaving = new AbortController();
  const gone = handler.fetch(request(["{", undefined], { signal: leaving.signal }));
  expect((await handler.fetch(request([whole]))).status).toBe(503);
  leaving.abort();
  expect((await gone).status).toBe(499);
  await new Promise(setImmediate);
  expect((await handler.fetch(request([whole]))).status).toBe(200);
});

it("a request that was aborted before it came is answered to nobody", async () => {
  await using handler = open();
  const aborted = request([whole], { signal: AbortSignal.abort() });
  expect((await handler.fetch(aborted)).status).toBe(499);
  expect((await handler.fetch(request([whole]))).status).toBe(200);
});

it("a body over the limit is given up in its midst", async () => {
  await using handler = open({ maxBodyBytes: 1_024 });
  expect((await handler.fetch(request(["x".repeat(1_000), "x".repeat(1_000), undefined]))).status).toBe(413);
});

it("the body of an answer that is cancelled ends what fills it", async () => {
  await using handler = open({ maxListens: 1 });
  const listen = (): Promise<Response> => {
    const { headers = {} } = call("sum");
    const method = "subscriptions/listen";
    const body = whole.replace("tools/call", method).replace('"name":"sum"', '"notifications":{}');
    return handler.fetch(
      new Request("http://localhost/mcp", { method: "POST", headers: { ...headers, "mcp-method": method }, body }),
    );
  };
  for (let count = 0; count < 3; count += 1) {
    const answer = await listen();
    expect(answer.status).toBe(200);
    await answer.body?.cancel();
    await new Promise(setImmediate);
  }
});
