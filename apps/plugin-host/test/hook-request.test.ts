import type { JsonValue } from "@berth/venv-host/executor";
import { expect, it } from "vitest";
import { readAskedHook } from "../src/rpc/hook-request.js";

const good = { hook: "tool_pre_invoke", payload: { name: "add" } };

it("reads a request with all that there is", () => {
  const context = { requestId: "r-1", user: "ada", tenantId: "t", state: { a: 1 } };
  const extensions = {
    custom: { a: 1 },
    http: { requestHeaders: { "X-A": "1" }, method: "GET" },
    security: { labels: ["PII"], subject: { id: "ada", type: "user", roles: ["admin"] } },
    delegation: { chain: [{ subjectId: "ada", subjectType: "user", ttl_seconds: 5 }] },
  };
  expect(readAskedHook({ ...good, context, extensions, carried: "n" })).toMatchObject({
    ...good,
    carried: "n",
    globalContext: { ...context, metadata: {} },
    extensions: { ...extensions, delegation: { depth: 1, delegated: true } },
  });
});

it("takes null for a member that is left out", () => {
  const left = { context: null, extensions: null, credentials: null, carried: null };
  expect(readAskedHook({ ...good, ...left })).toEqual(readAskedHook(good));
});

it.each<{ name: string; params: JsonValue; says: string }>([
  { name: "no parameters", params: null, says: "params has to be an object" },
  { name: "a list", params: [], says: "params has to be an object" },
  { name: "no hook", params: { payload: {} }, says: "hook has to be" },
  { name: "no payload", params: { hook: "x" }, says: "payload has to be an object" },
  { name: "a misspelled member", params: { ...good, contxt: {} }, says: "params has no member contxt" },
  {
    name: "a misspelled member of the context",
    params: { ...good, context: { tenant: "t" } },
    says: "context has no member tenant",
  },
  { name: "a user that is a number", params: { ...good, context: { user: 1 } }, says: "context.user" },
  {
    name: "a slot that there is not",
    params: { ...good, extensions: { raw_credentials: {} } },
    says: "no member raw_credentials",
  },
  {
    name: "labels that are a text",
    params: { ...good, extensions: { security: { labels: "PII" } } },
    says: "labels has to be a list",
  },
  {
    name: "a label that is a number",
    params: { ...good, extensions: { security: { labels: [1] } } },
    says: "labels has to be a text",
  },
  {
    name: "a header that is a list",
    params: { ...good, extensions: { http: { requestHeaders: { a: [] } } } },
    says: "requestHeaders.a has to be a text",
  },
  {
    name: "a subject without id",
    params: { ...good, extensions: { security: { subject: { type: "user" } } } },
    says: "subject.id is missing",
  },
  {
    name: "a hop that is a text",
    params: { ...good, extensions: { delegation: { chain: ["a"] } } },
    says: "chain[0] has to be an object",
  },
  {
    name: "a depth that is a text",
    params: { ...good, extensions: { delegation: { depth: "1" } } },
    says: "depth has to be a number",
  },
  {
    name: "a token that is a number",
    params: { ...good, credentials: { inbound: [{ token: 1 }] } },
    says: "inbound[0].token has to be a text",
  },
  {
    name: "a kind of token that there is not",
    params: { ...good, credentials: { inbound: [{ token: "t", kind: "x" }] } },
    says: "kind has to be one of jwt",
  },
  { name: "a name that is a number", params: { ...good, carried: 1 }, says: "carried has to be a text" },
])("refuses $name", ({ params, says }) => {
  expect(() => readAskedHook(params)).toThrow(says);
});
