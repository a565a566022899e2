import fc from "fast-check";
import { expect, it } from "vitest";
import type { DelegationHop, Extensions, JsonObject } from "../../src/executor.js";
import { runOver, type TestPlugin } from "./hosts.js";

const RUNS = { numRuns: 200 };
const CAPABILITIES = [
  "read_headers",
  "write_headers",
  "read_labels",
  "append_labels",
  "read_delegation",
  "append_delegation",
];
const SENSITIVE = ["authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key"];

const label = fc.constantFrom("PII", "SECRET", "A", "B", "C", "__proto__");
const headerName = fc.constantFrom(
  "X-A",
  "x-a",
  "X-B",
  "Authorization",
  "COOKIE",
  "Set-Cookie",
  "X-API-KEY",
  "__proto__",
  "Accept",
);
const headers = fc.dictionary(headerName, fc.constantFrom("1", "2", "3"), { maxKeys: 5 });
const hop = fc.record({
  subject_id: fc.constantFrom("alice", "bob"),
  subject_type: fc.constantFrom("user", "agent"),
  scopes_granted: fc.subarray(["read", "write"]),
});
const ours: fc.Arbitrary<DelegationHop> = hop.map((one) => ({
  subjectId: one.subject_id,
  subjectType: one.subject_type,
  scopesGranted: one.scopes_granted,
}));

const given: fc.Arbitrary<Extensions> = fc.record({
  request: fc.constant({ environment: "test" }),
  http: fc.record({ requestHeaders: headers, responseHeaders: headers, method: fc.constant("GET") }),
  security: fc.record({ labels: fc.uniqueArray(label), classification: fc.constant("internal") }),
  delegation: fc
    .array(ours, { maxLength: 3 })
    .map((chain) => ({ chain, depth: chain.length, delegated: chain.length > 0 })),
  custom: fc.dictionary(fc.constantFrom("a", "b", "__proto__"), fc.jsonValue({ maxDepth: 2 })),
}) as fc.Arbitrary<Extensions>;

/** Anything that a plugin may send back, good and bad. */
const returned: fc.Arbitrary<JsonObject> = fc.record(
  {
    request: fc.constant({ environment: "forged" }),
    http: fc.record(
      { headers, request_headers: headers, response_headers: headers, method: fc.constant("PUT") },
      { requiredKeys: [] },
    ),
    security: fc.record({ labels: fc.array(label), classification: fc.constant("public") }, { requiredKeys: [] }),
    delegation: fc.record({ chain: fc.array(hop, { maxLength: 4 }) }),
    custom: fc.dictionary(fc.constantFrom("a", "b"), fc.jsonValue({ maxDepth: 2 })),
    junk: fc.jsonValue(),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>;

const plugin = fc.record({ returned, capabilities: fc.subarray(CAPABILITIES) });

function pluginsOf(list: readonly { readonly returned: JsonObject; readonly capabilities: string[] }[]): TestPlugin[] {
  return list.map(({ returned: back, capabilities }, at) => ({
    name: `p${at}`,
    capabilities,
    does: () => ({ modified_extensions: back }),
  }));
}

it("never lets labels or the chain shrink, nor an immutable or sensitive part change, whatever plugins send back", async () => {
  await fc.assert(
    fc.asyncProperty(given, fc.array(plugin, { maxLength: 4 }), async (before, list) => {
      const { extensions: after } = await runOver(pluginsOf(list), { extensions: before });
      expect(after?.security?.labels).toEqual(expect.arrayContaining([...(before.security?.labels ?? [])]));
      expect(after?.security?.classification).toBe("internal");
      expect(after?.request).toBe(before.request);
      expect(after?.http?.method).toBe("GET");
      before.delegation?.chain.forEach((one, at) => {
        expect(after?.delegation?.chain[at]).toBe(one);
      });
      for (const map of ["requestHeaders", "responseHeaders"] as const) {
        const hidden = (all: Readonly<Record<string, string>> = {}): [string, string][] =>
          Object.entries(all).filter(([name]) => SENSITIVE.includes(name.toLowerCase()));
        expect(hidden(after?.http?.[map])).toEqual(hidden(before.http?.[map]));
      }
    }),
    RUNS,
  );
});

it("lets a plugin without a writing capability change nothing but custom", async () => {
  await fc.assert(
    fc.asyncProperty(given, returned, fc.subarray(CAPABILITIES), async (before, back, some) => {
      const capabilities = some.filter((name) => name.startsWith("read_"));
      const { extensions: after } = await runOver(pluginsOf([{ returned: back, capabilities }]), {
        extensions: before,
      });
      const { custom, ...rest } = after ?? {};
      for (const [slot, value] of Object.entries(rest)) expect(value).toBe(before[slot as keyof Extensions]);
      if (back["custom"] === undefined) expect(after).toBe(before);
      else expect(custom).toEqual(back["custom"]);
    }),
    RUNS,
  );
});

it("applies an answer that is given twice once: the second time nothing changes", async () => {
  await fc.assert(
    fc.asyncProperty(given, returned, async (before, back) => {
      const capabilities = ["write_headers", "append_labels"];
      const { delegation: _chain, http, ...others } = back;
      // One shape of the headers only: with two that contradict each other, either may be the one that changed.
      const { headers: _python, ...rust } = Object(http);
      const rest = { ...others, http: rust };
      const list = pluginsOf([
        { returned: rest, capabilities },
        { returned: rest, capabilities },
      ]);
      const { extensions: once } = await runOver(list.slice(0, 1), { extensions: before });
      const { extensions: twice } = await runOver(list, { extensions: before });
      expect(twice).toEqual(once);
    }),
    RUNS,
  );
});

it("shows no plugin a sensitive header, nor a slot without its capability", async () => {
  await fc.assert(
    fc.asyncProperty(given, fc.subarray(CAPABILITIES), async (extensions, capabilities) => {
      let view: JsonObject | undefined;
      const does: TestPlugin["does"] = (call) => {
        view = call.extensions;
        return {};
      };
      await runOver([{ name: "p", capabilities, does }], { extensions });
      const http = Object(view?.["http"]);
      const names = ["headers", "request_headers", "response_headers"].flatMap((map) => Object.keys(http[map] ?? {}));
      expect(names.filter((name) => SENSITIVE.includes(name.toLowerCase()))).toEqual([]);
      const opens = (part: string): boolean => capabilities.some((name) => name.endsWith(part));
      if (!opens("_headers")) expect(view?.["http"]).toBeUndefined();
      if (!opens("_labels")) expect(Object(view?.["security"]).labels).toBeUndefined();
      if (!opens("_delegation")) expect(view?.["delegation"]).toBeUndefined();
    }),
    RUNS,
  );
});
