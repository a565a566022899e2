import { expect, it } from "vitest";
import { createBodyReader } from "../../src/http/index.js";

const post = (body: NonNullable<RequestInit["body"]>): Request =>
  new Request("http://localhost/", { method: "POST", body, duplex: "half" });

/** A body that comes as the test says. */
function held(): { readonly request: Request; readonly send: (bytes: number) => void; readonly end: () => void } {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const ignore = (): void => undefined;
  return {
    request: post(readable),
    send: (bytes) => void writer.write(new Uint8Array(bytes)).catch(ignore),
    end: () => void writer.close().catch(ignore),
  };
}

it("a body over the limit is refused as soon as that is known, also without its length", async () => {
  const reader = createBodyReader({ maxBodyBytes: 1_024, maxBufferedBytes: 65_536 });
  await expect(reader.bytes(post("x".repeat(11)), "ada", 10)).rejects.toMatchObject({ status: 413 });
  const endless = held();
  const reading = reader.bytes(endless.request, "ada", 10);
  endless.send(11);
  await expect(reading).rejects.toMatchObject({ status: 413 });
});

it("all bodies that are being read share a bound, and give their place back", async () => {
  const reader = createBodyReader({ maxBodyBytes: 65_536, maxBufferedBytes: 65_536 });
  const [first, second] = [held(), held()];
  const reading = [reader.bytes(first.request, "ada", 65_536), reader.bytes(second.request, "ada", 65_536)] as const;
  first.send(40_000);
  second.send(40_000);
  const refused = await Promise.race(reading.map((one) => one.catch((error: unknown) => error)));
  expect(refused).toMatchObject({ status: 503 });
  first.end();
  second.end();
  await Promise.allSettled(reading);
  expect((await reader.bytes(post("x".repeat(60_000)), "ada", 65_536)).length).toBe(60_000);
});

it("several bodies of one owner leave room for another's", async () => {
  const reader = createBodyReader({ maxBodyBytes: 65_536, maxBufferedBytes: 65_536 });
  expect((await reader.bytes(post("x".repeat(60_000)), "bob", 65_536)).length).toBe(60_000);
  const [first, second] = [held(), held()];
  const reading = [first, second].map(({ request }) => reader.bytes(request, "ada", 65_536));
  first.send(30_000);
  second.send(30_000);
  const refused = await Promise.race(reading.map((one) => one.catch((error: unknown) => error)));
  expect(refused).toMatchObject({ status: 503 });
  expect((await reader.bytes(post("x".repeat(30_000)), "bob", 65_536)).length).toBe(30_000);
  first.end();
  second.end();
  await Promise.allSettled(reading);
});

it("a body counts until it was used, also when that fails", async () => {
  const reader = createBodyReader({ maxBodyBytes: 65_536, maxBufferedBytes: 65_536 });
  let store = (_what: string): void => undefined;
  const stored = new Promise<string>((resolve) => {
    store = resolve;
  });
  const storing = reader.use(post("x".repeat(40_000)), "ada", 65_536, async (body) => body.length + (await stored));
  await expect(reader.bytes(post("x".repeat(40_000)), "ada", 65_536)).rejects.toMatchObject({ status: 503 });
  store(" stored");
  expect(await storing).toBe("40000 stored");
  const failing = reader.use(post("x".repeat(40_000)), "ada", 65_536, () => Promise.reject(new Error("no room")));
  await expect(failing).rejects.toThrow("no room");
  expect((await reader.bytes(post("x".repeat(60_000)), "ada", 65_536)).length).toBe(60_000);
});

it("a body that breaks off is its client's fault", async () => {
  const reader = createBodyReader({ maxBodyBytes: 1_024, maxBufferedBytes: 65_536 });
  const broken = new ReadableStream({ pull: (stream) => stream.error(new Error("aborted")) });
  await expect(reader.bytes(post(broken), "ada", 10)).rejects.toMatchObject({ status: 400 });
});

it.each(["{", '"\\ud800', "\u0000", "nul"])("%j is no JSON", async (body) => {
  const reader = createBodyReader({ maxBodyBytes: 1_024, maxBufferedBytes: 65_536 });
  await expect(reader.json(post(body), "ada")).rejects.toMatchObject({ status: 400 });
});

it("bytes that are no UTF-8 are no JSON; nothing is undefined", async () => {
  const reader = createBodyReader({ maxBodyBytes: 1_024, maxBufferedBytes: 65_536 });
  await expect(reader.json(post(Uint8Array.of(0x22, 0xff, 0x22)), "ada")).rejects.toMatchObject({ status: 400 });
  expect(await reader.json(post(""), "ada")).toBeUndefined();
});
