import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HttpServer, serveHttp } from "../../src/http.js";
import type { RequestEvent, RequestStart } from "../../src/index.js";
import { sampleServer } from "../support/sample.js";

let http: HttpServer;
const events: RequestEvent<string>[] = [];
const starts: RequestStart<string>[] = [];
beforeAll(async () => {
  const server = sampleServer({
    observers: [(event) => void events.push(event)],
    instrumentation: { begin: (start) => void starts.push(start) },
  });
  http = await serveHttp({ server, principal: "ada" });
});
afterAll(() => http.close());

const ofHttp = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
const ofMeta = `00-${"c".repeat(32)}-${"d".repeat(16)}-01`;
const legacy = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } };
const modern = {
  _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  },
};
async function send(method: string, params: object, headers: Readonly<Record<string, string>>): Promise<void> {
  const answer = await fetch(http.url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  await answer.text();
  expect(answer.status).toBe(200);
}
const version = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
const sent = { traceparent: ofHttp, tracestate: "a=1", baggage: "b=2" };

describe("a trace over HTTP", () => {
  it.each([
    {
      name: "2026-07-28, from the headers",
      method: "tools/list",
      params: modern,
      headers: { ...version, ...sent },
      of: "http",
    },
    {
      name: "2026-07-28, from the message",
      method: "tools/list",
      params: { _meta: { ...modern._meta, traceparent: ofMeta } },
      headers: { ...version, ...sent },
      of: "meta",
    },
    { name: "2025-11-25, from the headers", method: "initialize", params: legacy, headers: sent, of: "http" },
    {
      name: "2025-11-25, from the message",
      method: "initialize",
      params: { ...legacy, _meta: { traceparent: ofMeta } },
      headers: sent,
      of: "meta",
    },
    { name: "none", method: "tools/list", params: modern, headers: version, of: undefined },
  ])("reaches observers and the instrumentation: $name", async ({ method, params, headers, of }) => {
    await send(method, params, headers);
    const http = { traceparent: ofHttp, tracestate: "a=1", baggage: "b=2", source: "http" };
    const meta = { traceparent: ofMeta, tracestate: undefined, baggage: undefined, source: "meta" };
    const expected = of === undefined ? undefined : expect.objectContaining(of === "http" ? http : meta);
    expect(events.at(-1)?.trace).toEqual(expected);
    expect(starts.at(-1)).toMatchObject({ method, overHttp: true });
    expect(starts.at(-1)?.trace).toEqual(expected);
  });

  it("that comes in two headers is none", async () => {
    const headers = new Headers({
      ...version,
      ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
    });
    headers.append("traceparent", ofHttp);
    headers.append("traceparent", ofMeta);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: modern });
    expect((await fetch(http.url, { method: "POST", headers, body })).status).toBe(200);
    expect(events.at(-1)?.trace).toBeUndefined();
  });
});
