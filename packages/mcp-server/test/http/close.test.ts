import { describe, expect, it, vi } from "vitest";
import { createHttpHandler, serveHttp } from "../../src/http.js";
import { heldServer, until } from "../support/held.js";
import { call, frontEnds, modern } from "../support/http.js";
import { dial, rawHead } from "../support/raw-http.js";

describe.each(frontEnds)("a server that closes, over $name,", ({ start }) => {
  it("waits for what is under way", async () => {
    const { server, taken } = heldServer();
    await using front = await start({ server, principal: "ada" });
    const coming = front.send(call("held"));
    const { release } = await taken();
    const closed = front.close();
    release();
    expect((await coming).json).toMatchObject({ result: { content: [{ text: "released" }] } });
    await closed;
  });

  it("answers in the end what does not answer itself, and aborts it", async () => {
    const { server, taken } = heldServer();
    await using front = await start({ server, principal: "ada", limits: { drainMs: 20 } });
    const quiet = front.send(call("held", {}, { id: "q" }));
    const { call: first } = await taken();
    const told = front.open(call("held", {}, { id: "t", meta: { progressToken: 1 } }));
    const { call: second } = await taken();
    second.progress(1);
    const stream = await told;
    expect(await stream.next()).toMatchObject({ method: "notifications/progress" });
    const signals = [first.signal, second.signal];
    const closed = front.close();
    const answer = await quiet;
    expect([answer.status, answer.json]).toEqual([503, { jsonrpc: "2.0", id: "q", error: closing }]);
    expect(await stream.next()).toEqual({ jsonrpc: "2.0", id: "t", error: closing });
    expect(await stream.next()).toBeUndefined();
    await closed;
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  it("ends a subscription as the server's own close does: with a cancellation, then its result", async () => {
    const { server } = heldServer();
    await using front = await start({ server, principal: "ada" });
    const answer = await front.open(modern("subscriptions/listen", { notifications: {} }, { id: "s" }));
    expect(await answer.next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
    const closed = front.close();
    const params = { requestId: "s" };
    expect(await answer.next()).toEqual({ jsonrpc: "2.0", method: "notifications/cancelled", params });
    expect(await answer.next()).toMatchObject({
      id: "s",
      result: { resultType: "complete", _meta: { "io.modelcontextprotocol/subscriptionId": "s" } },
    });
    expect(await answer.next()).toBeUndefined();
    await closed;
  });

  it("shares one promise between all who close it, and can be closed without having served", async () => {
    const { server } = heldServer();
    await using front = await start({ server, principal: "ada" });
    expect(front.close()).toBe(front.close());
    await front.close();
  });
});
const closing = { code: -32603, message: "the server is closing" };

it("requests that come while a server closes are refused, and their connections end", async () => {
  const { server, taken } = heldServer();
  await using handler = createHttpHandler({ server, principal: "ada" });
  const request = ({ headers = {}, body = "" }: ReturnType<typeof call>): Request =>
    new Request("http://localhost/mcp", { method: "POST", headers, body: String(body) });
  const first = handler.fetch(request(call("held")));
  const { release } = await taken();
  const closed = handler.close();
  const second = await handler.fetch(request(call("sum")));
  expect([second.status, second.headers.get("connection")]).toEqual([503, "close"]);
  release();
  expect((await first).status).toBe(200);
  await closed;
});

it("a connection that never sent a request does not keep a server from closing", async () => {
  const server = await serveHttp({ server: heldServer().server, principal: "ada", limits: { drainMs: 600_000 } });
  const { ended } = await dial(server.port);
  await (await fetch(server.url)).text(); // the connection before this one has been accepted by now
  await server.close();
  await ended();
});

it("what is left of a refused body leaves no timer behind", async () => {
  const bodyMs = 77_777;
  const set = vi.spyOn(globalThis, "setTimeout");
  const clear = vi.spyOn(globalThis, "clearTimeout");
  const server = await serveHttp({
    server: heldServer().server,
    principal: "ada",
    limits: { maxBodyBytes: 1_024, bodyMs },
  });
  const client = await dial(server.port);
  await client.write(rawHead(call("sum"), { "content-length": "100000" }));
  expect((await client.answers(1))[0]).toContain("413");
  client.socket.destroy();
  await server.close();
  const made = set.mock.results.filter((_, at) => set.mock.calls[at]?.[1] === bodyMs).map(({ value }) => value);
  expect(made.length).toBeGreaterThan(0);
  await until(() => made.every((timer) => clear.mock.calls.some(([cleared]) => cleared === timer)));
  vi.restoreAllMocks();
});

it("nothing keeps the process after the close, idle connections included", async () => {
  const before = process
    .getActiveResourcesInfo()
    .filter((name) => name !== "Immediate")
    .sort();
  const { server } = heldServer();
  const http = await serveHttp({ server, principal: "ada" });
  const { body = "", headers = {} } = call("tells", {}, { meta: { progressToken: 1 } });
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => fetch(http.url, { method: "POST", headers, body: String(body) })),
  );
  for (const answer of answers) expect(await answer.text()).toContain("told");
  await http.close();
  await until(() => {
    const left = process.getActiveResourcesInfo().filter((name) => name !== "Immediate");
    return (
      left.filter((name) => /TCP|Timeout/.test(name)).length <= before.filter((name) => /TCP|Timeout/.test(name)).length
    );
  });
});
