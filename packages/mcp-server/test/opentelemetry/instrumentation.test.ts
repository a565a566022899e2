import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Context,
  type ContextManager,
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { McpServer, McpServerOptions } from "../../src/index.js";
import { createOpenTelemetry, type OpenTelemetryOptions } from "../../src/opentelemetry.js";
import { openClient, resultOf } from "../support/client.js";
import { sampleServer, sampleTools } from "../support/sample.js";

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const tracer = provider.getTracer("test");

/** What `@opentelemetry/context-async-hooks` does. */
function createContextManager(): ContextManager {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, fn, receiver, ...given) => storage.run(active, () => fn.apply(receiver, given)),
    bind: (_, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}

beforeAll(() => void context.setGlobalContextManager(createContextManager()));
afterEach(() => exporter.reset());
afterAll(async () => {
  context.disable();
  await provider.shutdown();
});

const traceId = "0af7651916cd43dd8448eb211c80319c";
const parentId = "b7ad6b7169203331";
const traceparent = `00-${traceId}-${parentId}-01`;
const call = { name: "echo", arguments: { text: "the secret" } };

function traced(options: OpenTelemetryOptions = {}, more: Partial<McpServerOptions<string>> = {}): McpServer<string> {
  return sampleServer({ instrumentation: createOpenTelemetry({ tracer, ...options }), ...more });
}

describe("options", () => {
  it.each<{ name: string; given: unknown; text: string }>([
    { name: "a misspelled one", given: { recordResourceUri: true }, text: 'there is no option "recordResourceUri"' },
    {
      name: "a text for a flag",
      given: { recordResourceUris: "no" },
      text: "recordResourceUris is a text; it has to be",
    },
    {
      name: "a provider for a tracer",
      given: { tracer: provider },
      text: "tracer is an object; it has to be a Tracer",
    },
    {
      name: "a promise of a tracer",
      given: { tracer: Promise.resolve(tracer) },
      text: "tracer is a promise: await it",
    },
  ])("are refused at the start: $name", ({ given, text }) => {
    expect(() => createOpenTelemetry(Object.assign({}, given))).toThrow(text);
  });
});

describe("a span", () => {
  it("is made for each request, named and described as the conventions say, and holds neither arguments nor results", async () => {
    const client = openClient(traced());
    await client.askModern("tools/call", call);
    await client.askModern("tools/list");
    const [first, second] = exporter.getFinishedSpans();
    expect(first).toMatchObject({
      name: "tools/call echo",
      kind: SpanKind.SERVER,
      ended: true,
      status: { code: SpanStatusCode.UNSET },
    });
    expect(first?.attributes).toEqual({
      "mcp.method.name": "tools/call",
      "jsonrpc.request.id": "1",
      "network.transport": "pipe",
      "mcp.protocol.version": "2026-07-28",
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "echo",
    });
    expect(second?.name).toBe("tools/list");
    expect(JSON.stringify([first?.attributes, first?.events, first?.status])).not.toContain("secret");
  });

  it.each([
    { name: "a tool error", params: { name: "fails" }, span: "tools/call fails", type: "tool_error", code: undefined },
    { name: "an unknown tool", params: { name: "no-such" }, span: "tools/call", type: "-32602", code: "-32602" },
    { name: "a forbidden tool", params: { name: "secret" }, span: "tools/call", type: "-32602", code: "-32602" },
    {
      name: "a fault of the handler",
      params: { name: "breaks" },
      span: "tools/call breaks",
      type: "-32603",
      code: "-32603",
    },
  ])("says how it failed: $name", async ({ params, span, type, code }) => {
    await openClient(traced())
      .askModern("tools/call", params)
      .catch(() => undefined);
    const [only] = exporter.getFinishedSpans();
    expect(only).toMatchObject({ name: span, status: { code: SpanStatusCode.ERROR } });
    expect(only?.status.message).toBeUndefined();
    expect(only?.events).toEqual([]);
    expect([only?.attributes["error.type"], only?.attributes["rpc.response.status_code"]]).toEqual([type, code]);
  });

  it("has no name that a client made up", async () => {
    await openClient(traced()).askModern(`made/up-${"x".repeat(10_000)}`);
    const [only] = exporter.getFinishedSpans();
    expect(only?.name).toBe("unknown method");
    expect(String(only?.attributes["mcp.method.name"]).length).toBe(200);
  });

  it("of a cancelled request says so, and is no failure", async () => {
    const client = openClient(traced());
    const waiting = client.askModern("tools/call", { name: "waits" });
    await client.notify("notifications/cancelled", { requestId: 1 });
    await waiting;
    const [only] = exporter.getFinishedSpans();
    expect([only?.status.code, only?.events.map(({ name }) => name)]).toEqual([SpanStatusCode.UNSET, ["cancelled"]]);
  });

  it("holds the address of a resource only when told to", async () => {
    const resources = [{ uri: "note:///1?key=s3cret", name: "one", permission: "use", read: () => "text" }];
    for (const recordResourceUris of [false, true]) {
      await openClient(traced({ recordResourceUris }, { resources })).askModern("resources/read", {
        uri: "note:///1?key=s3cret",
      });
    }
    const spans = exporter.getFinishedSpans();
    expect(spans.map(({ name, attributes }) => [name, attributes["mcp.resource.uri"]])).toEqual([
      ["resources/read", undefined],
      ["resources/read", "note:///1?key=s3cret"],
    ]);
  });
});

describe("parent and children", () => {
  it("the sender's span is the parent, with its state; what the handler starts is a child", async () => {
    const [echo] = sampleTools;
    const seen: (string | undefined)[] = [];
    const handler = async (): Promise<string> => {
      await null;
      tracer.startSpan("inside").end();
      seen.push(propagation.getBaggage(context.active())?.getEntry("user")?.value);
      return "done";
    };
    const server = traced({}, { tools: echo === undefined ? [] : [{ ...echo, handler }] });
    const meta = { traceparent, tracestate: "congo=t61rcWkgMzE", baggage: "user=ada%20l, broken=%ff;p=1" };
    await openClient(server).askModern("tools/call", call, {}, meta);
    const [inside, ours] = exporter.getFinishedSpans();
    expect(ours?.parentSpanContext).toMatchObject({ traceId, spanId: parentId, isRemote: true });
    expect(ours?.parentSpanContext?.traceState?.get("congo")).toBe("t61rcWkgMzE");
    expect(inside?.parentSpanContext?.spanId).toBe(ours?.spanContext().spanId);
    expect([inside?.spanContext().traceId, ours?.spanContext().traceId]).toEqual([traceId, traceId]);
    expect(seen).toEqual(["ada l"]);
  });

  it("requests at the same time do not get into each other's traces", async () => {
    const client = openClient(traced());
    const ids = Array.from({ length: 50 }, (_, at) => String(at + 1).padStart(32, "a"));
    await Promise.all(
      ids.map((id) => client.askModern("tools/call", call, {}, { traceparent: `00-${id}-${parentId}-01` })),
    );
    expect(exporter.getFinishedSpans().map((span) => span.spanContext().traceId)).toEqual(ids);
  });

  it("a span that is active already is linked when the message names a parent, and is the parent when only the headers do", async () => {
    const http = tracer.startSpan("POST /mcp");
    const server = traced();
    const connection = server.openConnection({ send: () => undefined });
    const ask = (id: number, _meta: object, headers: (name: string) => string | undefined): Promise<unknown> =>
      context.with(trace.setSpan(ROOT_CONTEXT, http), () =>
        server.handle(
          { jsonrpc: "2.0", id, method: "ping", params: { _meta } },
          { principal: "ada", connection, headers },
        ),
      );
    await ask(1, { traceparent }, () => undefined);
    await ask(2, {}, (name) => (name === "traceparent" ? traceparent : undefined));
    const [linked, child] = exporter.getFinishedSpans();
    expect(linked?.parentSpanContext?.spanId).toBe(parentId);
    expect(linked?.links.map((link) => link.context.spanId)).toEqual([http.spanContext().spanId]);
    expect(child?.parentSpanContext?.spanId).toBe(http.spanContext().spanId);
    expect(child?.attributes).toMatchObject({ "network.transport": "tcp", "network.protocol.name": "http" });
  });

  it("the headers name the parent where no span is active", async () => {
    const server = traced();
    const connection = server.openConnection({ send: () => undefined });
    const headers = (name: string): string | undefined => (name === "traceparent" ? traceparent : undefined);
    await server.handle({ jsonrpc: "2.0", id: 1, method: "ping" }, { principal: "ada", connection, headers });
    expect(exporter.getFinishedSpans()[0]?.parentSpanContext).toMatchObject({ traceId, spanId: parentId });
  });
});

describe("a tracer that is broken or absent", () => {
  const fail = (): never => {
    throw new Error("broken tracer");
  };
  const whole = tracer.startSpan("template");
  const broken: readonly { name: string; tracer: Tracer }[] = [
    { name: "starts no span", tracer: { startSpan: fail, startActiveSpan: fail } },
    {
      name: "its spans take nothing",
      tracer: {
        startSpan: () => Object.assign(Object.create(whole), { updateName: fail, setAttributes: fail, end: fail }),
        startActiveSpan: fail,
      },
    },
  ];
  it.each(broken)("changes no answer: $name", async ({ tracer }) => {
    const server = traced({ tracer });
    expect(resultOf(await openClient(server).askModern("tools/call", call))).toMatchObject({
      content: [{ text: "the secret" }],
    });
    expect(server.observerFailures).toBe(1);
  });

  it("is none: without a provider there are no spans, and the answers are the same", async () => {
    const server = sampleServer({ instrumentation: createOpenTelemetry() });
    expect(resultOf(await openClient(server).askModern("tools/call", call))).toMatchObject({
      content: [{ text: "the secret" }],
    });
    expect([server.observerFailures, exporter.getFinishedSpans()]).toEqual([0, []]);
  });
});
