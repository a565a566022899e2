import fc from "fast-check";
import { jsonText } from "./json-text.js";

const methods = fc.constantFrom(
  ..."initialize ping tools/list tools/call prompts/list prompts/get resources/list resources/templates/list resources/read".split(
    " ",
  ),
  ..."resources/subscribe completion/complete logging/setLevel tasks/get tasks/list sampling/createMessage roots/list server/discover".split(
    " ",
  ),
  ..."notifications/initialized notifications/cancelled notifications/progress notifications/message notifications/tools/list_changed".split(
    " ",
  ),
  ..."notifications/resources/list_changed notifications/tasks/status notifications/subscriptions/acknowledged rpc.x".split(
    " ",
  ),
  "",
);
const idText = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 12 }).map(String) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 9 }).map((number) => `"berth-${number}"`) },
  fc.constantFrom('"1"', '"a"', "null", "-1", "1.5", "1e0", "9007199254740993", "{}", "[]", "true", '""'),
);
const paramsText = fc.oneof(
  fc.constantFrom(
    '{"name":"a__x"}',
    '{"name":"b__x","arguments":{},"_meta":{"progressToken":1}}',
    '{"name":"a__gone","task":{}}',
    '{"name":"a__x","task":{},"_meta":{"progressToken":"__proto__"}}',
    '{"name":"a____proto__"}',
    '{"name":"a__\\ud800"}',
    '{"requestId":"a"}',
    '{"taskId":"__proto__"}',
    '{"uri":"u://1"}',
    '{"ref":{"type":"ref/prompt","name":"a__p"}}',
    '{"ref":{"type":"ref/resource","uri":"u://{x}"}}',
    '{"level":"debug"}',
    '{"notifications":{"resourceSubscriptions":["u://1"]},"_meta":{"io.modelcontextprotocol/subscriptionId":"berth-1"}}',
    '{"requestId":"berth-2"}',
    '{"taskId":"T"}',
    '{"requestId":1}',
    '{"requestId":3,"reason":"x"}',
    '{"progressToken":1,"progress":1}',
    '{"cursor":"x"}',
    '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{}}',
    '{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}',
    "[]",
    "{}",
  ),
  jsonText,
);
/** Results of servers, good and bad. */
export const resultText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{},"tasks":{},"logging":{}},"serverInfo":{}}',
    '{"protocolVersion":"2025-11-25","capabilities":[],"serverInfo":{}}',
    '{"protocolVersion":"7"}',
    '{"tools":[{"name":"x"},{"name":"extra"},{"name":"x"}]}',
    '{"tools":[{"name":"x","description":"other"}],"nextCursor":"1"}',
    '{"prompts":[{"name":"p"}]}',
    '{"resources":[{"uri":"u://1"}]}',
    '{"resourceTemplates":[{"uriTemplate":"u://{x}"},{"uriTemplate":"{"}]}',
    '{"tasks":[{"taskId":"T"}]}',
    '{"task":{"taskId":"T"},"isError":true}',
    '{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?"}}}}',
    '{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"__proto__":{"method":"roots/list"}},"requestState":"s"}',
    '{"resultType":"input_required","requestState":"s"}',
    '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}',
    '{"resultType":"task","taskId":"T"}',
  ),
  jsonText,
);

const calls = fc.constantFrom(
  ["tools/call", '{"name":"a__x"}'],
  ["tools/call", '{"name":"b__x","_meta":{"progressToken":1}}'],
  ["tools/call", '{"name":"x","task":{"ttl":1},"_meta":{"progressToken":"t"}}'],
  ["tools/call", '{"name":"a__extra"}'],
  ["prompts/get", '{"name":"b__p"}'],
  ["resources/read", '{"uri":"u://1"}'],
  ["completion/complete", '{"ref":{"type":"ref/resource","uri":"u://{x}"}}'],
  ["tools/list", "{}"],
  ["resources/list", "{}"],
  ["tasks/list", "{}"],
  ["logging/setLevel", '{"level":"debug"}'],
  ["resources/subscribe", '{"uri":"u://1"}'],
  ["resources/unsubscribe", '{"uri":"u://1"}'],
);
/** Requests as a good client sends them. */
export const goodRequest: fc.Arbitrary<Uint8Array> = fc
  .tuple(fc.nat({ max: 30 }), calls)
  .map(([id, [method, params]]) => Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`));

const members = fc.record(
  {
    jsonrpc: fc.constantFrom('"2.0"', '"2.0"', '"2.0"', '"2.0"', '"1.0"', "2.0"),
    id: idText,
    method: methods.map((method) => JSON.stringify(method)),
    params: paramsText,
    result: resultText,
    error: fc.oneof(fc.constant('{"code":-1,"message":"m"}'), jsonText),
  },
  { requiredKeys: [] },
);
const write = (record: Readonly<Record<string, string | undefined>>): string =>
  `{${Object.entries(record)
    .map(([key, value]) => `"${key}":${value}`)
    .join(",")}}`;

const anyMessage = members.map(write);
const request = fc
  .tuple(idText, methods, paramsText)
  .map(([id, method, params]) => write({ jsonrpc: '"2.0"', id, method: JSON.stringify(method), params }));
const notification = fc
  .tuple(methods, paramsText)
  .map(([method, params]) => write({ jsonrpc: '"2.0"', method: JSON.stringify(method), params }));
const response = fc.tuple(idText, resultText).map(([id, result]) => write({ jsonrpc: '"2.0"', id, result }));
const failure = idText.map((id) => write({ jsonrpc: '"2.0"', id, error: '{"code":-32601,"message":"no"}' }));

const bytesOf = (text: string): Uint8Array => Buffer.from(text);
const mutated = fc
  .tuple(
    fc.oneof(request, notification, response, failure),
    fc.nat(),
    fc.integer({ min: 0, max: 255 }),
    fc.constantFrom("set", "cut", "add"),
  )
  .map(([text, place, byte, how]) => {
    const bytes = Buffer.from(text);
    const at = place % bytes.length;
    if (how === "cut") return bytes.subarray(0, at);
    if (how === "add") return Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at)]);
    const copy = Buffer.from(bytes);
    copy[at] = byte;
    return copy;
  });

/** What a hostile or broken peer might send as a line: good messages, wrong ones, damaged ones, noise. */
export const hostileFrame: fc.Arbitrary<Uint8Array> = fc
  .oneof(
    { weight: 4, arbitrary: request.map(bytesOf) },
    { weight: 4, arbitrary: response.map(bytesOf) },
    { weight: 2, arbitrary: notification.map(bytesOf) },
    { weight: 1, arbitrary: failure.map(bytesOf) },
    { weight: 1, arbitrary: anyMessage.map(bytesOf) },
    { weight: 1, arbitrary: mutated },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }) },
  )
  .map((bytes) => bytes.filter((byte) => byte !== 10));
