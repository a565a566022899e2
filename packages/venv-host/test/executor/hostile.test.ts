import { expect, it } from "vitest";
import type { HookOutcome, JsonObject } from "../../src/executor.js";
import { allow, hostOf, keeping, requestOf, runOver } from "./hosts.js";

const limits = { maxDepth: 32, maxValues: 1_000, maxTextChars: 1_024 };

function deep(levels: number): JsonObject {
  let value: JsonObject = {};
  for (let at = 1; at < levels; at += 1) value = { a: value };
  return value;
}

const cyclic: Record<string, unknown> = {};
cyclic["self"] = cyclic;
const sparse = new Array<unknown>(5);

const HOSTILE: readonly { readonly name: string; readonly value: unknown }[] = [
  { name: "nested too deeply", value: deep(33) },
  { name: "cyclic", value: cyclic },
  { name: "of too many values", value: { list: new Array(1_001).fill(0) } },
  { name: "of too many members", value: Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`k${at}`, 0])) },
  { name: "of too long a text", value: { text: "x".repeat(1_025) } },
  { name: "of too long a name", value: { ["x".repeat(1_025)]: 1 } },
  { name: "an endless sparse list", value: { list: new Array(2 ** 31) } },
  { name: "a list with holes", value: { list: sparse } },
  { name: "a number that is none", value: { a: Number.NaN } },
  { name: "an infinite number", value: { a: Number.POSITIVE_INFINITY } },
  { name: "a big integer", value: { a: 1n } },
  { name: "a function", value: { a: () => 1 } },
  { name: "an instance of a class", value: { a: new Date(0) } },
  { name: "a map", value: { a: new Map() } },
  {
    name: "a member that throws",
    value: Object.defineProperty({}, "a", {
      enumerable: true,
      get: () => {
        throw new Error("no");
      },
    }),
  },
];

it.each(HOSTILE)(
  "takes a payload, notes, metadata or custom slot that is $name as the plugin's failure",
  async ({ value }) => {
    const answers = [
      { modified_payload: { name: "x", args: { value } } },
      { metadata: { value } },
      { context: { state: { value } } },
      { context: { global_context: { state: { value } } } },
      { modified_extensions: { custom: { value } } },
    ];
    for (const answer of answers) {
      const outcome = await runOver(
        [
          { name: "evil", onError: "ignore", does: () => answer },
          { name: "next", does: allow },
        ],
        { extensions: { custom: {} } },
        { limits },
      );
      expect(outcome.executions.map(({ status }) => status)).toEqual(["failed", "allowed"]);
      expect([outcome.allowed, outcome.extensions, outcome.metadata]).toEqual([true, { custom: {} }, {}]);
    }
  },
);

it("takes what is just within the limits, and nothing one level, value or character over them", async () => {
  const metadata = async (value: unknown): Promise<boolean> =>
    (await runOver([{ name: "p", does: () => ({ metadata: value }) }], {}, { limits })).allowed;
  expect([await metadata(deep(32)), await metadata(deep(33))]).toEqual([true, false]);
  const many = (count: number): JsonObject => ({ list: new Array<number>(count).fill(0) });
  expect([await metadata(many(998)), await metadata(many(999))]).toEqual([true, false]);
  const long = (chars: number): JsonObject => ({ text: "x".repeat(chars - 4) });
  expect([await metadata(long(1_024)), await metadata(long(1_025))]).toEqual([true, false]);
});

it.each(HOSTILE)("refuses a request whose payload or context is $name", async ({ value }) => {
  const does = allow;
  const globalContext = { requestId: "r", state: Object.assign(Object.create(null), { value }), metadata: {} };
  const parts = [{ payload: Object.assign({ name: "t" }, { args: { value } }) }, { globalContext }];
  for (const part of parts) {
    await expect(runOver([{ name: "p", does }], part as object, { limits })).rejects.toThrow();
  }
});

it.each(HOSTILE)("keeps a deny whose details are $name", async ({ value }) => {
  const violation = { reason: "no", code: "NO", details: { value }, http_headers: { a: value } };
  const outcome = await runOver(
    [{ name: "p", onError: "ignore", does: () => ({ continue_processing: false, violation }) }],
    {},
    { limits },
  );
  expect(outcome.violation).toMatchObject({ code: "NO", reason: "no", details: {} });
});

it("carries __proto__ along as a member like any other, and changes no prototype", async () => {
  const evil = JSON.parse(
    '{"name":"x","__proto__":{"polluted":1},"args":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}',
  );
  const custom = JSON.parse('{"__proto__":{"polluted":1}}');
  const headers = JSON.parse('{"__proto__":"x","constructor":"y"}');
  const calls: Parameters<ReturnType<typeof keeping>>[0][] = [];
  const outcome: HookOutcome = await runOver(
    [
      {
        name: "evil",
        capabilities: ["write_headers", "append_labels"],
        does: () => ({
          modified_payload: evil,
          modified_extensions: { custom, http: { headers }, security: { labels: ["__proto__"] } },
          metadata: custom,
          http_headers: headers,
          context: { state: custom, global_context: { state: custom } },
        }),
      },
      { name: "next", capabilities: ["read_headers"], does: keeping(calls) },
    ],
    { extensions: {} },
  );
  expect(outcome.allowed).toBe(true);
  expect(JSON.stringify(outcome.payload)).toBe(JSON.stringify(evil));
  expect(JSON.stringify(outcome.extensions?.custom)).toBe('{"__proto__":{"polluted":1}}');
  expect(Object.keys(outcome.httpHeaders)).toEqual(["__proto__", "constructor"]);
  expect(JSON.stringify(calls[0]?.context.globalContext.state)).toBe('{"__proto__":{"polluted":1}}');
  for (const value of [{}, outcome, outcome.payload, outcome.metadata, outcome.extensions, calls[0]?.payload]) {
    expect(Object(value).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(Object(value))).toBe(Object.prototype);
  }
});

it.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
  "runs a hook and a plugin named %s like any other",
  async (name) => {
    const outcome = await runOver([{ name, hooks: [name], does: () => ({ modified_payload: { done: true } }) }], {
      hook: name,
      payload: {},
    });
    expect([outcome.allowed, outcome.payload]).toEqual([true, { done: true }]);
  },
);

it.each([
  { name: "null", thrown: null },
  { name: "undefined", thrown: undefined },
  {
    name: "an object whose text throws",
    thrown: {
      toString: () => {
        throw new Error("no");
      },
    },
  },
  { name: "an endless text", thrown: "x".repeat(100_000) },
  {
    name: "an error whose message throws",
    thrown: Object.defineProperty(new Error("m"), "message", {
      get: () => {
        throw new Error("no");
      },
    }),
  },
])("survives a plugin that throws $name", async ({ thrown }) => {
  const outcome = await runOver([{ name: "p", does: () => Promise.reject(thrown) }]);
  expect(outcome.violation?.code).toBe("plugin_error");
  expect(outcome.violation?.reason.length).toBeLessThanOrEqual(2_000);
});

it.each([
  { name: "without a hook", part: { hook: "" }, code: "OPTION_INVALID" },
  { name: "with an endless hook", part: { hook: "x".repeat(201) }, code: "OPTION_INVALID" },
  { name: "without a payload", part: { payload: undefined }, code: "PAYLOAD_INVALID" },
  { name: "with a payload that is a list", part: { payload: [], hook: "identity_resolve" }, code: "PAYLOAD_INVALID" },
  { name: "without a context", part: { globalContext: null }, code: "PAYLOAD_INVALID" },
])("refuses a request $name", async ({ part, code }) => {
  await using host = hostOf([{ name: "p", does: allow }]);
  await expect(host.run(Object.assign(requestOf(), part))).rejects.toMatchObject({ code });
});

it("takes extensions that are not of their form as nothing to show, and calls nobody with them", async () => {
  const calls: Parameters<ReturnType<typeof keeping>>[0][] = [];
  const extensions = Object.assign({}, { delegation: { chain: 7 } });
  const plugin = { name: "p", capabilities: ["read_delegation"], does: keeping(calls) };
  await using host = hostOf([plugin]);
  const outcome = await host.run(Object.assign(requestOf(), { extensions }));
  expect([outcome.allowed, calls]).toEqual([false, []]);
});

it("survives listeners that throw", async () => {
  const fails = (): never => {
    throw new Error("no");
  };
  const outcome = await runOver([{ name: "p", does: allow }], {}, { onLog: fails, onProgress: fails });
  expect(outcome.allowed).toBe(true);
});

it("takes a payload of the default limits in reasonable time", async () => {
  const list = Array.from({ length: 100_000 }, (_, at) => ({ at }));
  const outcome = await runOver([{ name: "p", does: allow }], { payload: { name: "t", args: { list } } });
  expect(outcome.allowed).toBe(true);
});
