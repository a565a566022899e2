import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createJwtVerifier, type JwtOptions, type TokenVerifier } from "../../src/auth.js";
import {
  audience,
  createSigner,
  issuer,
  type KeyServer,
  keySet,
  never,
  present,
  type Signer,
  startKeyServer,
} from "../support/issuer.js";

let one: Signer;
let two: Signer;
let server: KeyServer;
let clock = present;
const errors: unknown[] = [];

beforeAll(async () => {
  [one, two] = await Promise.all([createSigner("ES256", "one"), createSigner("ES256", "two")]);
});
beforeEach(async () => {
  server = await startKeyServer(keySet(one.jwk));
  clock = present;
  errors.length = 0;
});
afterEach(() => server[Symbol.asyncDispose]());

function verifierOf(options: Partial<JwtOptions<string>> = {}): Promise<TokenVerifier<string>> {
  return createJwtVerifier({
    issuer,
    audience,
    keys: { url: server.url },
    principal: ({ sub }) => String(sub),
    onKeysError: (error) => void errors.push(error),
    now: () => clock,
    ...options,
  });
}
const good = { principal: "ada", scopes: ["read", "write"] };
const late = { exp: present / 1_000 + 1_000_000 };
const unavailable = expect.objectContaining({ code: "KEYS_UNAVAILABLE" });
const down: KeyServer["answer"] = (_, response) => void response.writeHead(500).end();

describe("keys at an address", () => {
  it("are fetched when the first token comes, once, however many come", async () => {
    const verifier = await verifierOf();
    expect(server.asked).toBe(0);
    const tokens = await Promise.all(Array.from({ length: 50 }, () => one.sign()));
    const found = await Promise.all(tokens.map((token) => verifier.verify(token, never)));
    expect(found).toEqual(tokens.map(() => good));
    expect(server.asked).toBe(1);
  });

  it("are not fetched for what is no token of an algorithm that is allowed", async () => {
    const verifier = await verifierOf();
    for (const token of ["a", "a.b.c", "eyJhbGciOiJub25lIn0.e30.AAAA"]) {
      expect(await verifier.verify(token, never)).toBeUndefined();
    }
    expect(server.asked).toBe(0);
  });

  it("are fetched again after their time", async () => {
    const verifier = await verifierOf();
    const token = await one.sign(late);
    await verifier.verify(token, never);
    clock += 599_999;
    await verifier.verify(token, never);
    expect(server.asked).toBe(1);
    clock += 1;
    expect(await verifier.verify(token, never)).toEqual(good);
    expect(server.asked).toBe(2);
  });

  it("are fetched again for a key that is new, at most once in the cool-down", async () => {
    const verifier = await verifierOf();
    const [old, fresh] = await Promise.all([one.sign(late), two.sign(late)]);
    expect(await verifier.verify(old, never)).toEqual(good);
    server.answer = keySet(one.jwk, two.jwk);
    expect(await verifier.verify(fresh, never)).toBeUndefined();
    expect(server.asked).toBe(1);
    clock += 30_000;
    const found = await Promise.all(Array.from({ length: 20 }, () => verifier.verify(fresh, never)));
    expect(found).toEqual(found.map(() => good));
    expect(server.asked).toBe(2);
  });

  it("are fetched no more often, whatever names of keys strangers make up", async () => {
    const verifier = await verifierOf();
    const strangers = await Promise.all(Array.from({ length: 200 }, (_, at) => two.sign({}, { kid: `made-up-${at}` })));
    for (const token of strangers) expect(await verifier.verify(token, never)).toBeUndefined();
    expect(server.asked).toBe(1);
  });

  it.each([
    { name: "shorter than the cool-down", limits: { cacheMs: 1_000, staleMs: 0 }, passed: 1_000 },
    { name: "over because the clock was set back", limits: { staleMs: 0 }, passed: -3_600_000 },
  ])("are fetched again when their time is $name", async ({ limits, passed }) => {
    const verifier = await verifierOf({ limits });
    const token = await one.sign(late);
    await verifier.verify(token, never);
    clock += passed;
    expect(await verifier.verify(token, never)).toEqual(good);
    expect(server.asked).toBe(2);
  });

  it("that are withdrawn stop to count with the next fetch", async () => {
    const verifier = await verifierOf();
    const token = await one.sign(late);
    expect(await verifier.verify(token, never)).toEqual(good);
    server.answer = keySet(two.jwk);
    clock += 600_000;
    expect(await verifier.verify(token, never)).toBeUndefined();
  });
});

describe("an outage", () => {
  it("at the first token is told as one, and the issuer is asked again after a pause only", async () => {
    server.answer = down;
    const verifier = await verifierOf();
    const token = await one.sign(late);
    await expect(verifier.verify(token, never)).rejects.toEqual(unavailable);
    server.answer = keySet(one.jwk);
    clock += 4_999;
    await expect(verifier.verify(token, never)).rejects.toEqual(unavailable);
    expect([server.asked, errors.length]).toEqual([1, 1]);
    clock += 1;
    expect(await verifier.verify(token, never)).toEqual(good);
    expect(server.asked).toBe(2);
  });

  it("leaves known keys good for a while, and no longer", async () => {
    const verifier = await verifierOf();
    const token = await one.sign(late);
    await verifier.verify(token, never);
    server.answer = down;
    clock += 600_000;
    expect(await verifier.verify(token, never)).toEqual(good);
    clock += 3_599_999;
    expect(await verifier.verify(token, never)).toEqual(good);
    clock += 1;
    await expect(verifier.verify(token, never)).rejects.toEqual(unavailable);
  });

  it("that hangs is waited for once; then who has a known key is served while the next fetch hangs as well", async () => {
    const verifier = await verifierOf({ limits: { fetchMs: 50 } });
    const token = await one.sign(late);
    await verifier.verify(token, never);
    let hung = 0;
    let release: () => void = () => undefined;
    const hangs: KeyServer["answer"] = (request, response) => {
      hung += 1;
      release = () => keySet(two.jwk)(request, response);
    };
    server.answer = hangs;
    clock += 600_000;
    expect(await verifier.verify(token, never)).toEqual(good);
    expect(hung).toBe(1);
    const patient = await verifierOf();
    server.answer = keySet(one.jwk);
    await patient.verify(token, never);
    server.answer = down;
    clock += 600_000;
    expect(await patient.verify(token, never)).toEqual(good);
    clock += 5_000;
    server.answer = hangs;
    // The fetch of this one would take five seconds.
    for (let at = 0; at < 100; at += 1) expect(await patient.verify(token, never)).toEqual(good);
    const deadline = AbortSignal.timeout(10_000);
    while (hung < 2) {
      deadline.throwIfAborted();
      await new Promise(setImmediate);
    }
    release();
    // What it brings counts from then on.
    while ((await patient.verify(token, never)) !== undefined) {
      deadline.throwIfAborted();
      await new Promise(setImmediate);
    }
    expect(hung).toBe(2);
  });

  it("is told where a key that is not known might be known by now", async () => {
    const verifier = await verifierOf();
    await verifier.verify(await one.sign(), never);
    server.answer = down;
    clock += 30_000;
    await expect(verifier.verify(await two.sign(), never)).rejects.toEqual(unavailable);
    expect(await verifier.verify(await one.sign(), never)).toEqual(good);
  });

  const answers: readonly { name: string; answer: () => KeyServer["answer"] }[] = [
    { name: "another status", answer: () => (_, response) => void response.writeHead(404).end("{}") },
    { name: "a redirection", answer: () => (_, response) => void response.writeHead(302, { location: "/" }).end() },
    { name: "HTML", answer: () => (_, response) => void response.end("<html>") },
    { name: "no set of keys", answer: () => (_, response) => void response.end('{"keys":{}}') },
    { name: "nothing", answer: () => (_, response) => void response.end() },
    { name: "no UTF-8", answer: () => (_, response) => void response.end(Buffer.from([0xff, 0xfe])) },
    { name: "too many keys", answer: () => keySet(...Array.from({ length: 101 }, () => one.jwk)) },
    { name: "a connection that ends", answer: () => (_, response) => void response.socket?.destroy() },
    {
      name: "an answer that ends in its midst",
      answer: () => (_, response) => {
        response.writeHead(200, { "content-length": "1000" }).write("{");
        response.socket?.end();
      },
    },
  ];
  it.each(answers)("is each answer that holds no keys: $name", async ({ answer }) => {
    server.answer = answer();
    const verifier = await verifierOf();
    await expect(verifier.verify(await one.sign(), never)).rejects.toEqual(unavailable);
  });

  it("is an answer that does not end: no more of it is kept than the limit", async () => {
    let sent = 0;
    const gone = new Promise<void>((resolve) => {
      server.answer = (_, response) => {
        const more = (): void => {
          sent += 65_536;
          if (!response.destroyed) response.write(Buffer.alloc(65_536, 0x20), () => setImmediate(more));
        };
        response.on("close", resolve);
        more();
      };
    });
    const verifier = await verifierOf({ limits: { maxKeySetBytes: 1_024 } });
    await expect(verifier.verify(await one.sign(), never)).rejects.toEqual(unavailable);
    await gone;
    expect(sent).toBeLessThan(64 * 1_048_576);
  });

  it("is an answer that does not come in time", async () => {
    server.answer = () => undefined;
    const verifier = await verifierOf({ limits: { fetchMs: 50 } });
    await expect(verifier.verify(await one.sign(), never)).rejects.toEqual(unavailable);
    server.answer = (_, response) => void response.writeHead(200).write("{");
    clock += 5_000;
    await expect(verifier.verify(await one.sign(), never)).rejects.toEqual(unavailable);
  });

  it("is not waited for by who is gone, and the others get their answer", async () => {
    const asked = new Promise<() => void>((resolve) => {
      server.answer = (request, response) => resolve(() => keySet(one.jwk)(request, response));
    });
    const verifier = await verifierOf();
    const client = new AbortController();
    const token = await one.sign();
    const leaves = verifier.verify(token, client.signal);
    const stays = verifier.verify(token, never);
    const answer = await asked;
    const reason = new Error("gone");
    client.abort(reason);
    await expect(leaves).rejects.toBe(reason);
    answer();
    expect(await stays).toEqual(good);
  });
});

describe("keys in a file", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "berth-keys-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("are those of a newer file within a second, and those of before when that is no set of keys", async () => {
    const file = join(folder, "jwks.json");
    const replace = async (content: string): Promise<void> => {
      await writeFile(`${file}.new`, content, { mode: 0o644 });
      await rename(`${file}.new`, file);
    };
    await replace(JSON.stringify({ keys: [one.jwk] }));
    const verifier = await verifierOf({ keys: { file } });
    const [old, fresh] = await Promise.all([one.sign(), two.sign()]);
    expect(await verifier.verify(fresh, never)).toBeUndefined();
    await replace(JSON.stringify({ keys: [two.jwk] }));
    clock += 1_000;
    expect([await verifier.verify(fresh, never), await verifier.verify(old, never)]).toEqual([good, undefined]);
    await replace("{}");
    clock += 1_000;
    expect(await verifier.verify(fresh, never)).toEqual(good);
    expect(errors).toEqual([expect.objectContaining({ code: "KEYS_INVALID" })]);
  });
});
