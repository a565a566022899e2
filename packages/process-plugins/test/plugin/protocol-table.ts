/** What PROTOCOL.md asks of every plugin, as rows: lines that are sent, and what has to be answered. */

/** A plugin that the table is tried with. */
export interface Subject {
  readonly name: string;
  readonly version: string;
  readonly health: object;
  readonly capabilities: object;
}

/** One exchange: what is sent, and what is answered to it, nothing when there is no answer. */
export type Step = readonly [send: object | string | Uint8Array, answer?: object | undefined];

export interface Row {
  readonly name: string;
  /** Where the instance is before. */
  readonly state: "spawned" | "created" | "running" | "stopped";
  readonly steps: (subject: Subject) => readonly Step[];
}

const versionKey = "io.modelcontextprotocol/protocolVersion";
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
export const meta = { [versionKey]: "2026-07-28", [capabilitiesKey]: {} };

export const request = (id: number | string, method: string, params: object = {}): object => ({
  ...{ jsonrpc: "2.0", id, method, params },
});
export const mcp = (id: number | string, method: string, params: object = {}): object =>
  request(id, method, { ...params, _meta: meta });
export const call = (id: number | string, name: string, input: object): object =>
  mcp(id, "tools/call", { name, arguments: input });
export const result = (id: number | string, value: object): object => ({ jsonrpc: "2.0", id, result: value });
export const fault = (id: number | string | null, code: number, message: string, data?: unknown): object => ({
  ...{ jsonrpc: "2.0", id, error: { code, message, ...(data !== undefined && { data }) } },
});
export const stamped = ({ name, version }: Subject, value: object): object => ({
  ...{ resultType: "complete", _meta: { "io.modelcontextprotocol/serverInfo": { name, version } } },
  ...value,
});
export const texted = (subject: Subject, text: string, isError = false): object =>
  stamped(subject, { content: [{ type: "text", text }], isError });

export const createParams = {
  ...{
    instanceId: "i-1",
    protocol: 1,
    host: { name: "test", version: "1" },
    plugin: { name: "smoke", version: "1.0.0" },
  },
  ...{ dataDir: "/data", limits: { maxMessageBytes: 4_194_304, callTimeoutMs: 60_000 } },
};
const createStep = ({ name, version, capabilities }: Subject): readonly [object, object] => [
  request("c", "ave/instance/create", createParams),
  result("c", { protocol: 1, plugin: { name, version }, capabilities }),
];
const startStep: Step = [request("s", "ave/instance/start"), result("s", { status: "running" })];
const stopStep: Step = [request("e", "ave/instance/stop", { deadlineMs: 5_000 }), result("e", {})];
const badState = (id: number, method: string, state: string): Step => [
  request(id, `ave/instance/${method}`, method === "create" ? createParams : { deadlineMs: 5_000 }),
  fault(id, -31002, "bad state", { state }),
];

/** What brings a subject into a state. */
export function stepsTo(state: Row["state"], subject: Subject): readonly Step[] {
  const all = [createStep(subject), startStep, stopStep];
  return all.slice(0, { spawned: 0, created: 1, running: 2, stopped: 3 }[state]);
}

const noMeta = `params._meta is missing or not an object: it needs ${versionKey} and ${capabilitiesKey}`;
const noVersion = `params._meta["${versionKey}"] is missing or not a string`;
const noCapabilities = `params._meta["${capabilitiesKey}"] is missing or not an object`;
const unsupported = (id: number, requested: string): object =>
  fault(id, -32022, "Unsupported protocol version", { supported: ["2026-07-28"], requested });
const parseError = fault(null, -32700, "Parse error");
const invalidRequest = fault(null, -32600, "Invalid Request");
const notRunning = (id: number): object => fault(id, -31001, "not running");

const unreadable: readonly { readonly what: string; readonly line: string | Uint8Array }[] = [
  { what: "no JSON", line: "{" },
  { what: "JSON and more", line: "{} {}" },
  { what: "a word", line: "hello" },
  { what: "a number of no JSON", line: '{"jsonrpc":"2.0","id":01,"method":"x"}' },
  { what: "NaN", line: '{"jsonrpc":"2.0","id":1,"method":"x","params":{"x":NaN}}' },
  { what: "a comma too many", line: '{"jsonrpc":"2.0","id":1,"method":"x",}' },
  { what: "a control character in a text", line: '{"jsonrpc":"2.0","id":1,"method":"a\tb"}' },
  { what: "an escape that is none", line: '{"jsonrpc":"2.0","id":1,"method":"\\x"}' },
  { what: "half an escape", line: '{"jsonrpc":"2.0","id":1,"method":"\\u12"}' },
  { what: "a text that does not end", line: '{"jsonrpc":"2.0","id":1,"method":"x' },
  { what: "a byte that is not UTF-8", line: Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\xff"}', "latin1") },
  { what: "UTF-8 that is cut", line: Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\xc3"}', "latin1") },
  {
    what: "UTF-8 that is too long for what it says",
    line: Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\xc0\xaf"}', "latin1"),
  },
  { what: "a surrogate in UTF-8", line: Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}', "latin1") },
  { what: "a very deep line", line: "[".repeat(100_000) },
];

const noRequest: readonly { readonly what: string; readonly line: string }[] = [
  { what: "a batch", line: '[{"jsonrpc":"2.0","id":1,"method":"ave/instance/health"}]' },
  { what: "a text", line: '"x"' },
  { what: "null", line: "null" },
  { what: "an empty object", line: "{}" },
  { what: "no version", line: '{"id":1,"method":"ave/instance/health"}' },
  { what: "another version", line: '{"jsonrpc":"1.0","id":1,"method":"ave/instance/health"}' },
  { what: "an id of null", line: '{"jsonrpc":"2.0","id":null,"method":"ave/instance/health"}' },
  { what: "an id that is no whole number", line: '{"jsonrpc":"2.0","id":1.5,"method":"ave/instance/health"}' },
  { what: "an id that is an object", line: '{"jsonrpc":"2.0","id":{},"method":"ave/instance/health"}' },
  { what: "a method that is a number", line: '{"jsonrpc":"2.0","id":1,"method":1}' },
  { what: "an answer", line: '{"jsonrpc":"2.0","id":1,"result":{}}' },
];

const createWithout = (member: string): object => ({ ...createParams, [member]: undefined });
const createMembers = [
  ["instanceId", "a string"],
  ["host", "an object"],
  ["plugin", "an object"],
  ["dataDir", "a string"],
  ["limits", "an object"],
] as const;

const gated: readonly { readonly what: string; readonly params: object; readonly answer: object }[] = [
  { what: "an MCP request without _meta", params: {}, answer: fault(1, -32602, noMeta) },
  { what: "_meta that is a text", params: { _meta: "x" }, answer: fault(1, -32602, noMeta) },
  { what: "no version", params: { _meta: { [capabilitiesKey]: {} } }, answer: fault(1, -32602, noVersion) },
  {
    what: "a version that is a number",
    params: { _meta: { ...meta, [versionKey]: 1 } },
    answer: fault(1, -32602, noVersion),
  },
  {
    what: "no capabilities",
    params: { _meta: { [versionKey]: "2026-07-28" } },
    answer: fault(1, -32602, noCapabilities),
  },
  {
    what: "capabilities that are an array",
    params: { _meta: { ...meta, [capabilitiesKey]: [] } },
    answer: fault(1, -32602, noCapabilities),
  },
  {
    what: "another version",
    params: { _meta: { ...meta, [versionKey]: "1999-01-01" } },
    answer: unsupported(1, "1999-01-01"),
  },
];

const texts: readonly string[] = [
  "",
  '"\\/\b\f\n\r\t\u0000\u001f\u007f',
  "é ✓ 😀 \u{10ffff} \u2028",
  '{"a":[1,"b"]}',
  "$(id) `id` $HOME %s \\n 'x' * -n",
  "ä✓".repeat(4_000),
];

const row = (state: Row["state"], name: string, steps: Row["steps"]): Row => ({ name, state, steps });
const missing = (id: number, member: string, type: string): object =>
  fault(id, -32602, `params.${member} is missing or not ${type}`);
/** A request of so many levels. */
const nested = (levels: number): string =>
  `{"jsonrpc":"2.0","id":1,"method":"ave/x","params":{"x":${"[".repeat(levels - 2)}${"]".repeat(levels - 2)}}}`;

/** The table: PROTOCOL.md, and the tables of the faults that it must answer, word for word. */
export const protocolRows: readonly Row[] = [
  row("created", "what is not UTF-8, not JSON or too deep is answered with -32700 and no id", ({ health }) => [
    ...unreadable.map(({ line }): Step => [line, parseError]),
    [request(1, "ave/instance/health"), result(1, health)],
  ]),
  row("created", "what is JSON and no request is answered with -32600 and no id", ({ health }) => [
    ...noRequest.map(({ line }): Step => [line, invalidRequest]),
    [request(1, "ave/instance/health"), result(1, health)],
  ]),
  row("spawned", "blank lines and a carriage return are no fault", (subject) => {
    const [create, created] = createStep(subject);
    return [[""], [" "], [`${JSON.stringify(create)}\r`, created]];
  }),
  row("spawned", "create needs its protocol first, and then all of its members", (subject) => [
    ['{"jsonrpc":"2.0","id":1,"method":"ave/instance/create"}', missing(1, "protocol", "an integer")],
    [request(2, "ave/instance/create", createWithout("protocol")), missing(2, "protocol", "an integer")],
    [request(3, "ave/instance/create", { protocol: 2 }), fault(3, -31003, "Unsupported protocol", { supported: [1] })],
    ...createMembers.map(
      ([member, type]): Step => [request(4, "ave/instance/create", createWithout(member)), missing(4, member, type)],
    ),
    createStep(subject),
  ]),
  row("spawned", "members of params that nobody knows are passed over", (subject) => [
    [request("c", "ave/instance/create", { more: { x: [1] }, ...createParams }), createStep(subject)[1]],
  ]),
  row("spawned", "before create there is nothing but create", () => [
    badState(1, "start", "spawned"),
    badState(2, "health", "spawned"),
    badState(3, "stop", "spawned"),
    badState(4, "destroy", "spawned"),
    [mcp(5, "tools/list"), notRunning(5)],
  ]),
  row("created", "create comes once, and before start there are no calls", () => [
    badState(1, "create", "created"),
    [mcp(2, "tools/list"), notRunning(2)],
    [request(3, "ave/hook/invoke", {}), notRunning(3)],
    badState(4, "stop", "created"),
    badState(5, "destroy", "created"),
  ]),
  row("created", "an unknown method of ave/ is told with its name", () => [
    [request(1, "ave/no/such"), fault(1, -32601, "Method not found", "ave/no/such")],
    [request(2, "ave/instance/nö"), fault(2, -32601, "Method not found", "ave/instance/nö")],
  ]),
  row("created", "ids may be texts, and are answered as they came", ({ health }) =>
    ["", "1", '"ü\n', -7, 0, 9_007_199_254_740_991].map(
      (id): Step => [request(id, "ave/instance/health"), result(id, health)],
    ),
  ),
  row("created", "keys come in any order, with space between them, and escaped", ({ health }) => [
    [
      ' { "params" : { } , "m\\u0065thod" : "ave\\/instance\\/he\\u0061lth" , "id" : 3 , "jsonrpc" : "2.0" } ',
      result(3, health),
    ],
  ]),
  row("created", "notifications are never answered", ({ health }) => [
    ['{"jsonrpc":"2.0","method":"ave/instance/start"}'],
    ['{"jsonrpc":"2.0","method":"no/such"}'],
    ['{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}'],
    ['{"jsonrpc":"2.0","method":"notifications/cancelled"}'],
    badState(1, "create", "created"),
    [request(2, "ave/instance/health"), result(2, health)],
  ]),
  row("created", "128 levels are read", () => [
    [nested(128), fault(1, -32601, "Method not found", "ave/x")],
    [nested(129), parseError],
  ]),
  row("running", "the gate stops what has not its two keys, and nothing is locked by it", (subject) => [
    ['{"jsonrpc":"2.0","id":1,"method":"server/discover"}', fault(1, -32602, noMeta)],
    [request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {} }), fault(1, -32602, noMeta)],
    ...gated.map(({ params, answer }): Step => [request(1, "tools/list", params), answer]),
    [call(2, "echo", { text: "x" }), result(2, texted(subject, "x"))],
  ]),
  row("running", "initialize is answered with the version that is served", () => [
    [mcp(1, "initialize", { protocolVersion: "2025-11-25" }), unsupported(1, "2025-11-25")],
    [mcp(2, "initialize"), unsupported(2, "2026-07-28")],
  ]),
  row("running", "unknown methods, tools and cursors, and calls of no tool", () => [
    [mcp(1, "no/such/method"), fault(1, -32601, "Method not found", "no/such/method")],
    [mcp(2, "ping"), fault(2, -32601, "Method not found", "ping")],
    [mcp(3, "logging/setLevel", { level: "info" }), fault(3, -32601, "Method not found", "logging/setLevel")],
    [call(4, "no_such_tool", {}), fault(4, -32602, "Unknown tool: no_such_tool")],
    [mcp(5, "tools/call"), fault(5, -32602, "params.name is missing or not a string")],
    [mcp(6, "tools/call", { name: "echo", arguments: [] }), fault(6, -32602, "params.arguments is not an object")],
    [mcp(7, "tools/list", { cursor: "x" }), fault(7, -32602, "Unknown cursor")],
  ]),
  row("running", "echo gives back every text", (subject) => [
    ...texts.map((text): Step => [call(1, "echo", { text }), result(1, texted(subject, text))]),
    [
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"text":"\\u00e9\\ud83d\\ude00\\/\\u0041"},"name":"echo","_meta":${JSON.stringify(meta)}}}`,
      result(1, texted(subject, "é😀/A")),
    ],
  ]),
  row("running", "faults of the input of a tool are results", (subject) => {
    const wrong = (text: string): object => texted(subject, `Invalid arguments: ${text}`, true);
    return [
      [call(1, "echo", {}), result(1, wrong("text is missing"))],
      [mcp(2, "tools/call", { name: "echo" }), result(2, wrong("text is missing"))],
      [call(3, "echo", { text: 1 }), result(3, wrong("text is not a string"))],
      [call(4, "echo", { text: "x", more: 1 }), result(4, wrong("more is not known"))],
    ];
  }),
  row("running", "while it runs it is not created, started or destroyed, and stop needs its deadline", () => [
    badState(1, "create", "running"),
    badState(2, "start", "running"),
    badState(3, "destroy", "running"),
    [request(4, "ave/instance/stop"), missing(4, "deadlineMs", "an integer")],
  ]),
  row("stopped", "after stop there are no calls, health is told, and destroy ends the process", ({ health }) => [
    [mcp(1, "tools/list"), notRunning(1)],
    [request(2, "ave/hook/invoke"), notRunning(2)],
    badState(3, "start", "stopped"),
    badState(4, "stop", "stopped"),
    [request(5, "ave/instance/health"), result(5, health)],
    [request(6, "ave/instance/destroy"), result(6, {})],
  ]),
];
