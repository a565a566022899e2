import { expect, it } from "vitest";
import { createWriteAuthorities } from "../../src/executor/extensions/write-authority.js";
import type { Extensions, HookOutcome, JsonObject, PluginMode } from "../../src/executor.js";
import { extensions, runOver } from "./hosts.js";

type Returned = (view: JsonObject) => unknown;

async function merged(
  capabilities: readonly string[],
  returned: Returned,
  given: Extensions | "none" = extensions,
  mode: PluginMode = "sequential",
): Promise<HookOutcome> {
  return runOver(
    [{ name: "p", mode, capabilities, does: (call) => ({ modified_extensions: returned(call.extensions ?? {}) }) }],
    { extensions: given === "none" ? undefined : given },
  );
}

const labels =
  (...names: string[]): Returned =>
  (view) => ({ ...view, security: { labels: names } });
const httpOf = (view: JsonObject): JsonObject => Object(view["http"]);

it.each([
  { name: "absent", returned: () => undefined },
  { name: "null", returned: () => null },
  { name: "empty", returned: () => ({}) },
  { name: "the view as it was shown", returned: (view: JsonObject) => view },
  {
    name: "all slots null, as the Python model prints them",
    returned: () => ({ request: null, http: null, security: null, custom: null, delegation: null }),
  },
  { name: "unknown slots", returned: () => ({ brand_new: 1, raw_credentials: { token: "x" } }) },
])("keeps the very same object for extensions that are $name", async ({ returned }) => {
  const outcome = await merged(["write_headers", "append_labels", "append_delegation"], returned);
  expect(outcome.extensions).toBe(extensions);
  expect(outcome.executions[0]?.status).toBe("allowed");
});

it("drops forged immutable slots, and keeps each as the same object beside a legal write", async () => {
  const forged = {
    request: { environment: "prod" },
    agent: { agent_id: "root" },
    mcp: { tool: { name: "rm" } },
    meta: { tags: ["forged"] },
    llm: {},
    framework: {},
    provenance: {},
    completion: {},
    security: {
      subject: { id: "root", type: "system" },
      classification: "public",
      objects: {},
      data: {},
      auth_method: "none",
      client: {},
    },
    custom: { mine: true },
  };
  const outcome = await merged(["read_subject", "read_agent", "append_labels"], () => forged);
  expect(outcome.extensions).toEqual({ ...extensions, custom: { mine: true } });
  for (const slot of ["request", "agent", "http", "security", "delegation", "mcp", "meta", "llm"] as const) {
    expect(outcome.extensions?.[slot]).toBe(extensions[slot]);
  }
});

it("replaces custom as a whole, from any plugin; an empty one clears it", async () => {
  expect((await merged([], () => ({ custom: { b: 2 } }))).extensions?.custom).toEqual({ b: 2 });
  expect((await merged([], () => ({ custom: {} }))).extensions?.custom).toEqual({});
  expect((await merged([], () => ({ custom: { a: 1 } }), "none")).extensions).toEqual({ custom: { a: 1 } });
});

it("lets labels grow with append_labels, and never shrink", async () => {
  const added = await merged(["append_labels"], labels("PII", "SECRET"));
  expect(added.extensions?.security?.labels).toEqual(["PII", "SECRET"]);
  expect(added.extensions?.security?.subject).toBe(extensions.security?.subject);
  const instead = await merged(["append_labels"], labels("SECRET"));
  expect(instead.extensions?.security?.labels).toEqual(["PII", "SECRET"]);
  expect((await merged(["append_labels"], labels())).extensions).toBe(extensions);
  expect((await merged(["append_labels"], labels("A"), {})).extensions?.security?.labels).toEqual(["A"]);
});

it.each([
  { capabilities: ["read_labels", "read_headers", "read_delegation"] },
  { capabilities: [] },
  { capabilities: ["write_labels", "admin", "append_label"] },
])("drops gated writes with $capabilities, and takes a custom write beside them", async ({ capabilities }) => {
  const hop = { subject_id: "p", subject_type: "service", scopes_granted: [] };
  const outcome = await merged(capabilities, (view) => ({
    http: { headers: { "X-New": "1" } },
    security: { labels: ["PII", "NEW"] },
    delegation: { chain: [...(Object(view["delegation"])["chain"] ?? []), hop] },
    custom: { taken: true },
  }));
  expect(outcome.extensions).toEqual({ ...extensions, custom: { taken: true } });
});

it.each([
  {
    name: "headers of the Python shape",
    returned: (view: JsonObject) => ({ http: { headers: { ...Object(httpOf(view)["headers"]), "X-New": "1" } } }),
    request: { ...extensions.http?.requestHeaders, "X-New": "1" },
  },
  {
    name: "headers of the Rust shape beside the untouched Python one",
    returned: (view: JsonObject) => ({
      http: { ...httpOf(view), request_headers: { accept: "text/html", "x-trace": "t2" } },
    }),
    request: { ...extensions.http?.requestHeaders, "X-Trace": "t2" },
  },
  {
    name: "a header that is left out",
    returned: () => ({ http: { headers: { accept: "text/html" } } }),
    request: { Authorization: "Bearer secret-of-the-user", accept: "text/html" },
  },
  {
    name: "sensitive headers, which are not taken",
    returned: (view: JsonObject) => ({
      http: {
        headers: { ...Object(httpOf(view)["headers"]), AUTHORIZATION: "Bearer forged", Cookie: "a=b", "X-New": "1" },
      },
    }),
    request: { ...extensions.http?.requestHeaders, "X-New": "1" },
  },
])("merges per header: $name", async ({ returned, request }) => {
  const outcome = await merged(["write_headers"], returned);
  expect(outcome.extensions?.http).toEqual({ ...extensions.http, requestHeaders: request });
});

it("merges response headers too, and keeps the request line whatever comes back for it", async () => {
  const outcome = await merged(["write_headers"], () => ({
    http: {
      response_headers: { "X-R": "1", "SET-COOKIE": "evil" },
      method: "DELETE",
      path: "/other",
      host: "evil",
      scheme: "http",
    },
  }));
  expect(outcome.extensions?.http).toEqual({
    ...extensions.http,
    responseHeaders: { "Set-Cookie": "sid=1", "X-R": "1" },
  });
});

it("does not wipe headers when a plugin that may write them is about something else", async () => {
  const empty = { headers: {}, request_headers: {}, response_headers: {} };
  const outcome = await merged(["write_headers"], () => ({ http: empty, custom: { a: 1 } }));
  expect(outcome.extensions?.http).toBe(extensions.http);
});

const hop = { subject_id: "p", subject_type: "service", audience: null, scopes_granted: ["x"], ttl_seconds: 5 };
const chainOf = (view: JsonObject): JsonObject[] => Object(view["delegation"])["chain"] ?? [];

it("lets the delegation chain grow at its end; depth, actor and delegated follow, the origin stays", async () => {
  const outcome = await merged(["append_delegation"], (view) => ({
    delegation: { chain: [...chainOf(view), hop], depth: 99, origin_subject_id: "forged", delegated: false },
  }));
  expect(outcome.extensions?.delegation).toEqual({
    ...extensions.delegation,
    chain: [
      extensions.delegation?.chain[0],
      { subjectId: "p", subjectType: "service", scopesGranted: ["x"], ttl_seconds: 5 },
    ],
    depth: 2,
    actorSubjectId: "p",
  });
  expect(outcome.extensions?.delegation?.chain[0]).toBe(extensions.delegation?.chain[0]);
  const first = await merged(["append_delegation"], () => ({ delegation: { chain: [hop] } }), "none");
  expect(first.extensions?.delegation).toMatchObject({ depth: 1, originSubjectId: "p", delegated: true });
});

it.each([
  { name: "shorter", chain: () => [] },
  { name: "as long", chain: (held: JsonObject[]) => held },
  { name: "another one of its length", chain: () => [hop, hop] },
  ...["subject_id", "subject_type", "audience", "strategy"].map((member) => ({
    name: `longer with another ${member}`,
    chain: (held: JsonObject[]) => [{ ...held[0], [member]: "forged" }, hop],
  })),
  { name: "longer with other scopes", chain: (held: JsonObject[]) => [{ ...held[0], scopes_granted: ["all"] }, hop] },
])("drops a chain that is $name", async ({ chain }) => {
  const outcome = await merged(["append_delegation"], (view) => ({ delegation: { chain: chain(chainOf(view)) } }));
  expect([outcome.allowed, outcome.extensions]).toEqual([true, extensions]);
});

it.each([
  { name: "extensions that are a list", returned: [] },
  { name: "http that is a text", returned: { http: "x" } },
  { name: "a header value that is a number", returned: { http: { headers: { a: 1 } } } },
  { name: "a header name with a line feed", returned: { http: { request_headers: { "a\nb": "1" } } } },
  { name: "a header value with a line feed", returned: { http: { response_headers: { a: "1\nb: 2" } } } },
  { name: "labels that are a text", returned: { security: { labels: "PII" } } },
  { name: "labels of numbers", returned: { security: { labels: [1] } } },
  { name: "an endless label", returned: { security: { labels: ["x".repeat(201)] } } },
  { name: "a chain that is no list", returned: { delegation: { chain: {} } } },
  { name: "a hop without subject", returned: { delegation: { chain: [{ subject_type: "user" }] } } },
  { name: "a hop with scopes of numbers", returned: { delegation: { chain: [{ ...hop, scopes_granted: [1] }] } } },
  { name: "custom that is a list", returned: { custom: [] } },
  { name: "an immutable slot that is a number", returned: { request: 5 } },
])("takes $name as the plugin's failure, whatever it may write", async ({ returned }) => {
  for (const capabilities of [[], ["write_headers", "append_labels", "append_delegation"]]) {
    const outcome = await merged(capabilities, () => returned);
    expect(outcome.violation).toMatchObject({ code: "plugin_error", details: { error: "PROTOCOL_ERROR" } });
    expect(outcome.extensions).toBe(extensions);
  }
});

it.each(["audit", "concurrent"] as const)("takes nothing from a plugin of mode %s", async (mode) => {
  const outcome = await merged(
    ["append_labels"],
    () => ({ security: { labels: ["NEW"] }, custom: {} }),
    extensions,
    mode,
  );
  expect(outcome.extensions).toBe(extensions);
});

it("writes only with an authority of its own minting and the capability: none can be made up, copied or brought along", () => {
  const one = createWriteAuthorities();
  const other = createWriteAuthorities();
  const capabilities = new Set(["append_labels"]);
  const authority = one.mint(capabilities);
  expect(one.mayWrite(authority, capabilities, "labels")).toBe(true);
  expect(one.mayWrite(authority, capabilities, "http")).toBe(false);
  expect(one.mayWrite(authority, new Set(), "labels")).toBe(false);
  expect(one.mayWrite(one.mint(new Set()), capabilities, "labels")).toBe(false);
  for (const forged of [
    {},
    { ...authority },
    structuredClone(authority),
    Object.create(authority),
    other.mint(capabilities),
  ]) {
    expect(one.mayWrite(forged, capabilities, "labels")).toBe(false);
  }
  expect(JSON.stringify(authority)).toBe("{}");
});

it("takes a plugin's capabilities as they were when the host was made", async () => {
  const capabilities: string[] = [];
  const outcome = await runOver(
    [
      {
        name: "p",
        capabilities,
        does: () => {
          capabilities.push("append_labels");
          return { modified_extensions: { security: { labels: ["NEW"] } } };
        },
      },
    ],
    { extensions },
  );
  expect(outcome.extensions).toBe(extensions);
});
