import fc from "fast-check";
import { expect, it } from "vitest";
import { ProcessPluginError } from "../../src/errors.js";
import { halfInMemory, meta, openTestClient } from "./half-in-memory.js";

const call = (id: string, more = "", metaMore = ""): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{${more}${meta(metaMore)}}}`;

it("every byte passes as it is, but for the id: members that nobody knows, integers of any size, white space", async () => {
  const { half, read, write } = halfInMemory();
  const client = openTestClient(half);
  const odd = ' "x" : 12345678901234567890.10 , "é\\u00e9":[1e400,-0] ,';
  await client.send(
    `{ "params":{${odd}${meta()}},"method":"tools/call","unknown":{"a" : 1}, "id" : 98765432109876543210 ,"jsonrpc":"2.0"}`,
  );
  expect((await read()).toString()).toBe(
    `{ "params":{${odd}${meta()}},"method":"tools/call","unknown":{"a" : 1}, "id" : 1 ,"jsonrpc":"2.0"}`,
  );
  write('{ "result":{"resultType":"complete" , "n":12345678901234567890},"later":[ ],"id":1,"jsonrpc":"2.0" }');
  expect(await client.next()).toBe(
    '{ "result":{"resultType":"complete" , "n":12345678901234567890},"later":[ ],"id":98765432109876543210,"jsonrpc":"2.0" }',
  );
});

it("whatever ids clients use, and in whatever order they are answered, each gets its own answers", async () => {
  const id = fc.oneof(fc.integer(), fc.string(), fc.bigInt({ min: 2n ** 60n, max: 2n ** 70n }));
  const asked = fc.array(fc.record({ client: fc.nat({ max: 2 }), id }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(asked, fc.infiniteStream(fc.nat()), async (requests, order) => {
      const { half, readMessage, write, faults } = halfInMemory();
      const clients = [openTestClient(half), openTestClient(half), openTestClient(half)];
      const expected: string[][] = [[], [], []];
      const waiting: { readonly ours: number; readonly client: number; readonly answer: string }[] = [];
      for (const [n, { client, id: theirs }] of requests.entries()) {
        const json = typeof theirs === "bigint" ? String(theirs) : JSON.stringify(theirs);
        await clients[client]?.send(call(json, `"n":${n},`));
        const { id: ours, params } = await readMessage();
        expect(params["n"]).toBe(n);
        waiting.push({ ours, client, answer: `{"jsonrpc":"2.0","id":${json},"result":{"n":${n}}}` });
      }
      expect(new Set(waiting.map(({ ours }) => ours)).size).toBe(requests.length);
      while (waiting.length > 0) {
        const [next] = waiting.splice((order.next().value ?? 0) % waiting.length, 1);
        if (next === undefined) break;
        write(next.answer.replace(/"id":("(?:[^"\\]|\\.)*"|-?\d+)/, () => `"id":${next.ours}`));
        expected[next.client]?.push(next.answer);
      }
      for (const [index, client] of clients.entries()) {
        for (const answer of expected[index] ?? []) expect(await client.next()).toBe(answer);
        expect(client.waiting).toEqual([]);
      }
      expect(faults).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

it("progress tokens of clients never meet: each gets the progress of its own call, with its own token", async () => {
  const { half, readMessage, write, unplaced } = halfInMemory();
  const [one, two] = [openTestClient(half), openTestClient(half)];
  await one.send(call("1", "", '"progressToken":"same"'));
  await two.send(call("1", "", '"progressToken":9007199254740993'));
  await one.send(call("2"));
  const tokens: unknown[] = [];
  for (let n = 0; n < 3; n += 1) {
    const { params } = await readMessage();
    const { _meta } = params;
    tokens.push(
      typeof _meta === "object" && _meta !== null && "progressToken" in _meta ? _meta.progressToken : undefined,
    );
  }
  expect(tokens).toEqual([1, 2, undefined]);
  const progress = (token: string): string =>
    `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1}}`;
  for (const token of ["2", "1", "3", "77", '"same"']) write(progress(token));
  expect(await two.next()).toBe(progress("9007199254740993"));
  expect(await one.next()).toBe(progress('"same"'));
  write('{"jsonrpc":"2.0","id":3,"result":{}}');
  expect(await one.next()).toBe('{"jsonrpc":"2.0","id":2,"result":{}}');
  expect(unplaced).toEqual(["notifications/progress", "notifications/progress", "notifications/progress"]);
});

it("a subscription lasts, and what is told of it names the id of its client", async () => {
  const { half, readMessage, write } = halfInMemory();
  const [one, two] = [openTestClient(half), openTestClient(half)];
  const listen = `{"jsonrpc":"2.0","id":"s1","method":"subscriptions/listen","params":{"notifications":{},${meta()}}}`;
  await two.send(call("5"));
  await readMessage();
  await one.send(listen);
  expect((await readMessage()).id).toBe(2);
  const told = (id: string): string =>
    `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":${id}}}}`;
  write(told("2"));
  expect(await one.next()).toBe(told('"s1"'));
  write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}');
  expect(await one.next()).toBe('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s1"}}');
  const end = (id: string): string =>
    `{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":${id}}}}`;
  write(end("2"));
  expect(await one.next()).toBe(end('"s1"'));
  expect(two.waiting).toEqual([]);
});

it("changed lists are told to all, messages to the client whose call asked for them, others to nobody", async () => {
  const { half, readMessage, write, unplaced } = halfInMemory();
  const [one, two] = [openTestClient(half), openTestClient(half)];
  await one.send(call("1"));
  await two.send(call("1", "", '"io.modelcontextprotocol/logLevel":"info"'));
  await readMessage();
  await readMessage();
  const changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
  const message = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}';
  for (const line of [message, changed, '{"jsonrpc":"2.0","method":"notifications/whatever"}']) write(line);
  expect(await two.next()).toBe(message);
  expect([await one.next(), await two.next()]).toEqual([changed, changed]);
  write('{"jsonrpc":"2.0","id":2,"result":{}}');
  write(message);
  expect(await two.next()).toBe('{"jsonrpc":"2.0","id":1,"result":{}}');
  write(changed);
  expect(await two.next()).toBe(changed);
  expect(unplaced).toEqual(["notifications/whatever", "notifications/message"]);
});

it("a cancellation is that of the client's own call, and its late answer reaches nobody", async () => {
  const { half, read, readMessage, write, faults, pipe } = halfInMemory();
  const [one, two] = [openTestClient(half), openTestClient(half)];
  await one.send(call('"a"'));
  await two.send(call('"b"'));
  await readMessage();
  await readMessage();
  const cancel = (id: string): string =>
    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id},"reason":"late"}}`;
  await one.send(cancel('"b"')); // another client's
  await one.send(cancel("1")); // ours, which no client can know
  await one.send(cancel('"a"'));
  expect((await read()).toString()).toBe(
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
  );
  write('{"jsonrpc":"2.0","id":1,"result":{}}');
  write('{"jsonrpc":"2.0","id":2,"result":{}}');
  expect(await two.next()).toBe('{"jsonrpc":"2.0","id":"b","result":{}}');
  expect(one.waiting).toEqual([]);
  expect(pipe.lateAnswers).toBe(1);
  expect(faults).toEqual([]);
});

it("closing a client cancels what it asked, and nothing of the others", async () => {
  const { half, readMessage, write } = halfInMemory();
  const [one, two] = [openTestClient(half), openTestClient(half)];
  for (const [client, id] of [
    [one, "1"],
    [two, "1"],
    [one, "2"],
  ] as const) {
    await client.send(call(id));
    await readMessage();
  }
  await one.transport.close();
  expect(await one.closed).toBeUndefined();
  expect([(await readMessage()).params, (await readMessage()).params]).toEqual([{ requestId: 1 }, { requestId: 3 }]);
  write('{"jsonrpc":"2.0","id":2,"result":{}}');
  expect(await two.next()).toBe('{"jsonrpc":"2.0","id":1,"result":{}}');
  await expect(one.send(call("3"))).rejects.toMatchObject({ code: "TRANSPORT_CLOSED" });
  await one.transport.close();
});

it.each([
  { name: "no _meta", sent: '{"jsonrpc":"2.0","id":"q","method":"tools/list"}', code: -32602, id: '"q"' },
  {
    name: "params as a list",
    sent: '{"jsonrpc":"2.0","id":12345678901234567890,"method":"tools/list","params":[]}',
    code: -32602,
    id: "12345678901234567890",
  },
  {
    name: "_meta twice",
    sent: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{${meta()},"_meta":{}}}`,
    code: -32600,
    id: "1",
  },
  {
    name: "a key of _meta twice",
    sent: call("1", "", '"io.modelcontextprotocol/protocolVersion":"2026-07-28"'),
    code: -32602,
    id: "1",
  },
  { name: "a progress token that is an object", sent: call("1", "", '"progressToken":{}'), code: -32602, id: "1" },
  { name: "another version", sent: call("1").replace("2026-07-28", "2025-11-25"), code: -32022, id: "1" },
  { name: "initialize", sent: call("1").replace("tools/call", "initialize"), code: -32022, id: "1" },
  {
    name: "a method of the other half",
    sent: call("1").replace("tools/call", "ave/instance/stop"),
    code: -32601,
    id: "1",
  },
  { name: "no JSON", sent: '{"jsonrpc":"2.0","id":1,', code: -32700, id: "null" },
  { name: "no JSON, deep inside", sent: call("1", '"a":{"b":[1,tru]},'), code: -32700, id: "null" },
  { name: "a batch", sent: `[${call("1")}]`, code: -32600, id: "null" },
  { name: "a fraction as id", sent: call("1.5"), code: -32600, id: "null" },
  { name: "129 levels", sent: call("1", `"a":${"[".repeat(127)}${"]".repeat(127)},`), code: -32600, id: "1" },
])("a request that a plugin must not see is answered on the spot: $name", async ({ sent, code, id }) => {
  const { half, readMessage } = halfInMemory();
  const client = openTestClient(half);
  await client.send(sent);
  const answer = await client.next();
  expect(answer.startsWith(`{"jsonrpc":"2.0","id":${id},"error":{"code":${code},`)).toBe(true);
  await client.send(call('"next"'));
  expect((await readMessage()).id).toBe(1);
});

it("what is no JSON to a plugin never reaches it, whatever bytes a client sends", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.nat(), async (noise, place) => {
      const { half, read } = halfInMemory();
      const client = openTestClient(half);
      const whole = Buffer.from(call("1"));
      const at = place % whole.length;
      const sent = Buffer.concat([whole.subarray(0, at), noise, whole.subarray(at)]);
      await client.transport.send(sent).catch(() => {}); // a line feed in it
      await client.send(call('"good"'));
      for (let line = await read(); ; line = await read()) {
        const message: { readonly id?: unknown } = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
        if (client.waiting.length > 0 || message.id !== undefined) break;
      }
      await client.transport.close();
    }),
    { numRuns: 100 },
  );
});

it("notifications of the other half, and answers, are not passed on", async () => {
  const { half, readMessage } = halfInMemory();
  const client = openTestClient(half);
  await client.send('{"jsonrpc":"2.0","method":"ave/instance/log","params":{}}');
  await client.send('{"jsonrpc":"2.0","id":1,"result":{}}');
  await client.send('{"jsonrpc":"2.0","method":"notifications/own","params":{"x":1}}');
  expect(await readMessage()).toEqual({ jsonrpc: "2.0", method: "notifications/own", params: { x: 1 } });
});

it("one request too many is refused, and the next is taken when one was answered", async () => {
  const { half, readMessage, write } = halfInMemory({ maxCalls: 2 });
  const client = openTestClient(half);
  await client.send(call("1"));
  await client.send(call("2"));
  await client.send(call("3"));
  expect(JSON.parse(await client.next())).toEqual({
    jsonrpc: "2.0",
    id: 3,
    error: { code: -32603, message: "too many requests are under way", data: { reason: "TOO_MANY_CALLS" } },
  });
  await readMessage();
  write('{"jsonrpc":"2.0","id":1,"result":{}}');
  await client.next();
  await client.send(call("4"));
  await readMessage();
  expect((await readMessage()).id).toBe(3);
});

it("a plugin that does not read costs what is bounded: requests wait, and then are refused", async () => {
  const { half } = halfInMemory({ maxMessageBytes: 65_536, maxCalls: 10_000 });
  const client = openTestClient(half);
  const large = (id: number): string => call(String(id), `"text":"${"x".repeat(60_000)}",`);
  for (let id = 0; id < 40; id += 1) void client.send(large(id)).catch(() => {}); // ends with the half
  for (let n = 0; n < 20; n += 1) {
    expect(JSON.parse(await client.next())).toMatchObject({ error: { data: { reason: "TOO_MANY_CALLS" } } });
  }
  expect(client.transport.queuedBytes).toBeLessThanOrEqual(1_048_576 + 65_536);
  half.end(new ProcessPluginError("PLUGIN_EXITED", "over"));
  await client.closed;
});

it("a client that does not read is closed, and the others go on", async () => {
  const { half, readMessage, write } = halfInMemory();
  const [slow, other] = [openTestClient(half), openTestClient(half)];
  slow.transport.pause();
  await slow.send(call("1"));
  await readMessage();
  const changed = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"x":"${"y".repeat(50_000)}"}}`;
  for (let n = 0; n < 30; n += 1) write(changed);
  expect(await slow.closed).toMatchObject({ code: "QUEUE_FULL" });
  expect((await readMessage()).params).toEqual({ requestId: 1 });
  for (let n = 0; n < 30; n += 1) expect(await other.next()).toBe(changed);
});

it("a client that is paused gets what came meanwhile when it goes on, in order", async () => {
  const { half, write } = halfInMemory();
  const [client, other] = [openTestClient(half), openTestClient(half)];
  client.transport.pause();
  const changed = (n: number): string =>
    `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{"n":${n}}}`;
  for (let n = 0; n < 5; n += 1) write(changed(n));
  for (let n = 0; n < 5; n += 1) expect(await other.next()).toBe(changed(n));
  expect(client.waiting).toEqual([]);
  client.transport.resume();
  for (let n = 0; n < 5; n += 1) expect(await client.next()).toBe(changed(n));
});

it("when a plugin breaks the protocol every call of every client is answered once, and then they are closed", async () => {
  const { half, readMessage, write, faults } = halfInMemory();
  const [one, two] = [openTestClient(half), openTestClient(half)];
  await one.send(call("1"));
  await two.send(call('"x"'));
  await readMessage();
  await readMessage();
  write('{"jsonrpc":"2.0","id":1,"result":{}}\n{"jsonrpc":"2.0","id":1,"result":{}}');
  expect(await one.next()).toBe('{"jsonrpc":"2.0","id":1,"result":{}}');
  expect(await two.next()).toBe(
    '{"jsonrpc":"2.0","id":"x","error":{"code":-32603,"message":"the plugin has ended","data":{"reason":"PLUGIN_PROTOCOL"}}}',
  );
  expect(await one.closed).toBe(faults[0]);
  expect(await two.closed).toBe(faults[0]);
  expect([one.waiting, two.waiting]).toEqual([[], []]);
  expect(faults[0]?.excerpt).toBe('{"jsonrpc":"2.0","id":1,"result":{}}');
});

it("a client that is opened after the end is closed at once", async () => {
  const { half } = halfInMemory();
  const cause = new ProcessPluginError("PLUGIN_EXITED", "over");
  half.end(cause);
  const client = openTestClient(half);
  expect(await client.closed).toBe(cause);
});

it("a plugin that is not running is asked nothing", async () => {
  const { half, refuse, readMessage } = halfInMemory();
  const client = openTestClient(half);
  refuse(new ProcessPluginError("PLUGIN_NOT_RUNNING", "stopped"));
  await client.send(call("1"));
  expect(JSON.parse(await client.next())).toMatchObject({ id: 1, error: { code: -31001, message: "not running" } });
  await client.send('{"jsonrpc":"2.0","method":"notifications/own"}');
  refuse(undefined);
  await client.send(call("2"));
  expect((await readMessage()).id).toBe(1);
});

it("the host's own requests are checked by the same gate, and a client's tokens are not theirs", async () => {
  const { half, readMessage } = halfInMemory();
  const client = openTestClient(half);
  await client.send(call("1", "", '"progressToken":2'));
  await readMessage();
  half.ask("tools/list", JSON.parse(`{${meta('"progressToken":1')}}`), () => {});
  expect(await readMessage()).toMatchObject({ id: 2, params: { _meta: { progressToken: 2 } } });
  expect(() => half.ask("tools/list", {}, () => {})).toThrow(expect.objectContaining({ code: "REQUEST_INVALID" }));
  expect(() => half.ask("ave/instance/stop", {}, () => {})).toThrow(
    expect.objectContaining({ code: "REQUEST_INVALID", wire: expect.objectContaining({ code: -32601 }) }),
  );
});
