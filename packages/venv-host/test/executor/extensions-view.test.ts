import { expect, it } from "vitest";
import type { Extensions, JsonObject, PluginCall } from "../../src/executor.js";
import { extensions, keeping, runOver } from "./hosts.js";

async function viewOf(
  capabilities: readonly string[],
  given: Extensions | "none" = extensions,
): Promise<JsonObject | undefined> {
  const calls: PluginCall[] = [];
  await runOver([{ name: "p", capabilities, does: keeping(calls) }], {
    extensions: given === "none" ? undefined : given,
  });
  return calls[0]?.extensions;
}

const open = {
  request: { environment: "test" },
  mcp: { tool: { name: "add" } },
  completion: { model: "m" },
  provenance: { source: "s" },
  llm: { model_id: "m" },
  framework: { framework: "f" },
  meta: { tags: ["t"] },
  custom: { note: 1 },
};
const openSecurity = {
  classification: "internal",
  objects: { tool: { managed_by: "host" } },
  data: { tool: { apply_labels: ["PII"] } },
  auth_method: "oauth",
};
const http = {
  headers: { "X-Trace": "t1", accept: "text/html" },
  request_headers: { "X-Trace": "t1", accept: "text/html" },
  response_headers: { "Content-Type": "text/plain" },
  method: "POST",
  path: "/x",
  host: "h",
  scheme: "https",
};
const delegation = {
  chain: [
    {
      subject_id: "alice",
      subject_type: "user",
      audience: "agent",
      scopes_granted: ["read"],
      strategy: "passthrough",
      ttl_seconds: 60,
    },
  ],
  depth: 1,
  origin_subject_id: "alice",
  actor_subject_id: "alice",
  delegated: true,
  age_seconds: 1,
};
const who = { id: "alice", type: "user" };
const claims = { iss: "idp", level: "3" };

it.each([
  { capabilities: [], more: {}, security: {} },
  { capabilities: ["read_agent"], more: { agent: { agent_id: "agent-1" } }, security: {} },
  { capabilities: ["read_headers"], more: { http }, security: {} },
  { capabilities: ["write_headers"], more: { http }, security: {} },
  { capabilities: ["read_labels"], more: {}, security: { labels: ["PII"] } },
  { capabilities: ["append_labels"], more: {}, security: { labels: ["PII"] } },
  { capabilities: ["read_delegation"], more: { delegation }, security: {} },
  { capabilities: ["append_delegation"], more: { delegation }, security: {} },
  { capabilities: ["read_subject"], more: {}, security: { subject: who } },
  { capabilities: ["read_roles"], more: {}, security: { subject: { ...who, roles: ["admin"] } } },
  { capabilities: ["read_teams"], more: {}, security: { subject: { ...who, teams: ["red"] } } },
  { capabilities: ["read_permissions"], more: {}, security: { subject: { ...who, permissions: ["run"] } } },
  { capabilities: ["read_claims"], more: {}, security: { subject: { ...who, claims } } },
  { capabilities: ["read_client"], more: {}, security: { client: { id: "client-1" } } },
  {
    capabilities: ["read_workload"],
    more: {},
    security: { caller_workload: { id: "caller-1" }, this_workload: { id: "this-1" } },
  },
  {
    capabilities: ["read_inbound_credentials", "read_delegated_tokens", "write_candidate_constraint"],
    more: {},
    security: {},
  },
])("shows with $capabilities exactly these slots", async ({ capabilities, more, security }) => {
  expect(await viewOf(capabilities)).toEqual({ ...open, ...more, security: { ...openSecurity, ...security } });
});

it("shows all to a plugin with every capability, and still no sensitive header, in any case", async () => {
  const sensitive = ["Authorization", "COOKIE", "set-cookie", "X-Api-Key", "aUtHoRiZaTiOn ", "Proxy-Authorization"];
  const headers = Object.fromEntries([...sensitive, "x-ok"].map((name) => [name, `value of ${name}`]));
  const view = await viewOf(["read_headers"], { http: { requestHeaders: headers, responseHeaders: headers } });
  const left = { "x-ok": "value of x-ok" };
  expect(view).toEqual({ http: { headers: left, request_headers: left, response_headers: left } });
});

it.each([
  { name: "no extensions", given: "none" as const },
  { name: "empty ones", given: {} },
  {
    name: "only what it may not see",
    given: { agent: { a: 1 }, http: extensions.http, delegation: extensions.delegation },
  },
  { name: "a security slot with nothing for it", given: { security: { labels: ["PII"] } } },
])("sends no field for $name", async ({ given }) => {
  expect(await viewOf([], given)).toBeUndefined();
});

it("leaves out a subject without id or type, instead of losing all extensions by it", async () => {
  const subject = Object.assign({ ...extensions.security?.subject }, { id: undefined });
  const view = await viewOf(["read_subject"], {
    security: { labels: [], subject } as Extensions["security"],
    custom: { a: 1 },
  });
  expect(view).toEqual({ custom: { a: 1 } });
});

it("never sends slots that no table names, such as raw credentials", async () => {
  const given = Object.assign({ ...extensions }, { raw_credentials: { token: "t" }, candidate_constraint: {} });
  const view = await viewOf(["read_inbound_credentials", "read_headers"], given);
  expect(JSON.stringify(view)).not.toMatch(/raw_credentials|candidate_constraint/u);
});

it("shows a copy: nothing that a plugin does to it reaches the request or another plugin", async () => {
  const given: Extensions = { custom: { list: [1] } };
  const calls: PluginCall[] = [];
  await runOver(
    [
      {
        name: "evil",
        does: (call) => {
          expect(() => Object.assign(Object(call.extensions?.["custom"]), { list: [] })).toThrow(TypeError);
          expect(() => Object.assign(call.payload, { name: "evil" })).toThrow(TypeError);
          expect(() => Object.assign(call, { payload: {} })).toThrow(TypeError);
          return {};
        },
      },
      { name: "next", does: keeping(calls) },
    ],
    { extensions: given },
  );
  expect(given).toEqual({ custom: { list: [1] } });
  expect(calls[0]?.extensions).toEqual(given);
});
