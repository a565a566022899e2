import { describe, expect, it } from "vitest";
import type { Admission, Admitter } from "../../src/http.js";
import { aborted, until } from "../support/held.js";
import { call, codeOf, frontEnds, withHeaders } from "../support/http.js";
import { sampleServer } from "../support/sample.js";

const challenge = 'Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource"';
const metadata = { resource: "https://mcp.example.com/mcp", authorization_servers: ["https://as.example.com"] };
const known: Readonly<Record<string, Admission<string>>> = {
  ada: { principal: "ada" },
  root: { principal: "root" },
  poor: { status: 403, challenge: 'Bearer error="insufficient_scope"', message: "more is needed" },
  twice: { status: 400, challenge, message: "one at a time" },
  bad: { status: 401, challenge: "Bearer\r\nx-injected: 1", message: "no header" },
  later: { status: 503, retryAfterSeconds: 7, message: "ask later" },
};
const admitter: Admitter<string> = {
  admit(head) {
    const token = head.header("authorization");
    if (token === "break") throw new Error("the password is hunter2");
    return known[token ?? ""] ?? { status: 401, challenge, message: "who are you?" };
  },
  documents: new Map([["/.well-known/oauth-protected-resource/mcp", metadata]]),
};
const from = (authorization: string | undefined) => withHeaders(call("secret"), { authorization });

describe.each(frontEnds)("admission over $name", ({ start }) => {
  it("says who the client is, for each request", async () => {
    await using front = await start({ server: sampleServer(), admitter });
    expect((await front.send(from("root"))).json).toMatchObject({ result: { content: [{ text: "gold" }] } });
    expect(codeOf(await front.send(from("ada")))).toBe(-32602);
  });

  it.each([
    { token: undefined, status: 401, headers: { "www-authenticate": challenge } },
    { token: "poor", status: 403, headers: { "www-authenticate": 'Bearer error="insufficient_scope"' } },
    { token: "twice", status: 400, headers: { "www-authenticate": challenge } },
    { token: "later", status: 503, headers: { "retry-after": "7" } },
  ])(
    "refuses $token with $status and what comes with it, before the body is looked at",
    async ({ token, status, headers }) => {
      await using front = await start({ server: sampleServer(), admitter });
      const answer = await front.send({ ...withHeaders(from(token), { "content-type": "text/plain" }), body: "{" });
      expect(answer.status).toBe(status);
      for (const [name, value] of Object.entries(headers)) expect(answer.headers.get(name)).toBe(value);
      for (const method of ["GET", "DELETE"]) {
        const sent = withHeaders({ method }, { authorization: token, accept: "text/event-stream" });
        expect((await front.send(sent)).status).toBe(status);
      }
    },
  );

  it("may be asked of a head that it takes apart", async () => {
    const apart: Admitter<string> = {
      admit: ({ method, path, header }) => ({ principal: header("authorization") ?? `${method} ${path}` }),
    };
    await using front = await start({ server: sampleServer(), admitter: apart });
    expect((await front.send(from("root"))).json).toMatchObject({ result: { content: [{ text: "gold" }] } });
  });

  it("that fails is 500 without a word of why, told to the operator", async () => {
    const told: unknown[] = [];
    await using front = await start({
      server: sampleServer(),
      admitter,
      onUnexpectedError: (error) => void told.push(error),
    });
    const answer = await front.send(from("break"));
    expect([answer.status, codeOf(answer), answer.text]).toEqual([500, -32603, expect.not.stringContaining("hunter2")]);
    expect(told).toHaveLength(1);
    expect((await front.send(from("root"))).status).toBe(200);
  });

  it.each<{ name: string; said: unknown }>([
    { name: "nothing", said: undefined },
    { name: "null", said: null },
    { name: "an empty object", said: {} },
    { name: "false", said: false },
    { name: "a name alone", said: "root" },
    { name: "nobody", said: { principal: undefined } },
    { name: "null as the principal", said: { principal: null } },
    { name: "a promise as the principal", said: { principal: Promise.resolve("root") } },
    { name: "a principal and a refusal", said: { principal: "root", status: 401, message: "no" } },
    { name: "a status that lets in", said: { status: 200, message: "yes" } },
    { name: "a status that is no refusal of an admitter", said: { status: 404, message: "no" } },
    { name: "a refusal without a message", said: { status: 401 } },
  ])("that says $name is a fault of the server: 500, and nobody is let in", async ({ said }) => {
    const told: unknown[] = [];
    const onUnexpectedError = (error: unknown): void => void told.push(error);
    const admit = () => Object.assign(JSON.parse("[]"), [said])[0];
    await using front = await start({ server: sampleServer(), admitter: { admit }, onUnexpectedError });
    const answer = await front.send(from("root"));
    expect([answer.status, codeOf(answer)]).toEqual([500, -32603]);
    expect(told.map(String)).toEqual([expect.stringContaining("said neither who the client is")]);
  });

  it("that refuses with a principal that is nobody refuses", async () => {
    const admit = () => JSON.parse('{"principal":null,"status":401,"message":"who are you?"}');
    await using front = await start({ server: sampleServer(), admitter: { admit } });
    expect((await front.send(from("root"))).status).toBe(401);
  });

  it("that says what is no header is 500, and adds none", async () => {
    await using front = await start({ server: sampleServer(), admitter });
    const answer = await front.send(from("bad"));
    expect([answer.status, answer.headers.get("x-injected")]).toEqual([500, null]);
    expect((await front.send(from("root"))).status).toBe(200);
  });

  it("is not asked for documents, nor for what Host or Origin refuse", async () => {
    await using front = await start({ server: sampleServer(), admitter });
    const path = "/.well-known/oauth-protected-resource/mcp";
    const answer = await front.send({ method: "GET", path });
    expect([answer.status, answer.json]).toEqual([200, metadata]);
    const head = await front.send({ method: "HEAD", path });
    expect([head.status, head.text, head.headers.get("content-length")]).toEqual([
      200,
      "",
      answer.headers.get("content-length"),
    ]);
    expect((await front.send({ method: "POST", path })).status).toBe(405);
    expect((await front.send({ method: "GET", path: "/.well-known/other" })).status).toBe(404);
    expect((await front.send({ method: "GET", path, headers: { origin: "http://evil.example" } })).status).toBe(403);
    expect((await front.send(withHeaders(from(undefined), { origin: "http://evil.example" }))).status).toBe(403);
  });

  it("that waits is told when the client goes away", async () => {
    const signals: AbortSignal[] = [];
    const slow: Admitter<string> = {
      admit(_head, signal) {
        signals.push(signal);
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    };
    const told: unknown[] = [];
    const onUnexpectedError = (error: unknown): void => void told.push(error);
    await using front = await start({ server: sampleServer(), admitter: slow, onUnexpectedError });
    const gone = front.begin(call("sum"));
    await until(() => signals.length === 1);
    gone.leave();
    await Promise.all(signals.map(aborted));
    await new Promise(setImmediate);
    expect(told).toEqual([]);
  });
});
