import { FramingError, isFramingError, scanEnvelope } from "@berth/jsonrpc-framing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { createRelaySession, type RelayEvent } from "../src/index.js";
import { createDirectTransport, type DirectTransport } from "./support/direct-transport.js";
import { goodRequest, hostileFrame, resultText } from "./support/hostile-frames.js";
import { createManualScheduler } from "./support/manual-scheduler.js";
import { pinsOf } from "./support/pins.js";
import { tool } from "./support/scripted-server.js";

const server = fc.constantFrom("a", "b");
const step = fc.oneof(
  { weight: 5, arbitrary: goodRequest.map((bytes) => ({ do: "client" as const, bytes })) },
  { weight: 4, arbitrary: hostileFrame.map((bytes) => ({ do: "client" as const, bytes })) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("answer" as const), server, result: resultText, last: fc.nat({ max: 2 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("server" as const), server, bytes: hostileFrame }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("exit" as const, "fault" as const), server }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 4_000 }) }) },
);
const stepsPerRun = 40;
const hello =
  '{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"roots":{}}}}';
const opened = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
const settle = () => new Promise(setImmediate);

const options = fc.record({
  names: fc.constantFrom("prefixed" as const, "plain" as const),
  observe: fc.boolean(),
  onBadLine: fc.constantFrom("fatal" as const, "quarantine" as const),
  pinned: fc.boolean(),
  /** Whether children answer the handshake and lists by themselves, so that hostile frames meet a session at work. */
  polite: fc.boolean(),
  /** Whether polite children serve 2026-07-28 alone. */
  modern: fc.boolean(),
});
const politeAnswers: Readonly<Record<string, string>> = {
  initialize:
    '{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{},"tasks":{},"logging":{}},"serverInfo":{}}',
  "tools/list": JSON.stringify({ tools: [tool("x")] }),
  "prompts/list": '{"prompts":[{"name":"p"}]}',
  "resources/list": '{"resources":[{"uri":"u://1"}]}',
  "resources/templates/list": '{"resourceTemplates":[{"uriTemplate":"u://{x}"}]}',
};

const refusesInitialize: Readonly<Record<string, string>> = {
  ...politeAnswers,
  "server/discover":
    '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true},"logging":{}}}',
};

describe("a session under hostile frames from both sides", () => {
  it("never breaks, sends nothing but messages, answers no request twice, and records an outcome for each intent", async () => {
    const frames = scaledCount("hostile frames", 300_000);
    await fc.assert(
      fc.asyncProperty(options, fc.array(step, { minLength: stepsPerRun, maxLength: stepsPerRun }), runSession),
      { numRuns: Math.ceil(frames / stepsPerRun) },
    );
  }, 600_000);
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Options = typeof options extends fc.Arbitrary<infer T> ? T : never;

async function runSession(
  { names, observe, onBadLine, pinned, polite, modern }: Options,
  steps: readonly Step[],
): Promise<void> {
  const scheduler = createManualScheduler();
  const downstream = createDirectTransport();
  const children = new Map<string, DirectTransport[]>();
  const events: RelayEvent[] = [];
  const policy = { onBadLine, deadlines: { startMs: 3_000, listMs: 2_000, callMs: 2_500, callMaxMs: 5_000 } };
  const session = createRelaySession({
    downstream,
    servers: [
      { name: "a", ...policy, ...(pinned && { tools: { pinned: pinsOf([tool("x")]) } }) },
      { name: "b", ...policy },
    ],
    names,
    observe,
    scheduler,
    serverInfo: { name: "fuzz", version: "0" },
    record(event) {
      events.push(event);
      return undefined;
    },
    async openUpstream(server) {
      const transport = createDirectTransport((frame) => {
        const { id, method = "" } = scanEnvelope(frame);
        const result = (modern ? refusesInitialize : politeAnswers)[method];
        if (!polite || id === undefined || result === undefined) return;
        const isRefused = modern && method === "initialize";
        const rest = isRefused ? '"error":{"code":-32601,"message":"no"}' : `"result":${result}`;
        const answer = `{"jsonrpc":"2.0","id":${JSON.stringify(id.value)},${rest}}`;
        queueMicrotask(() => transport.deliver(Buffer.from(answer)));
      });
      children.set(server, [...(children.get(server) ?? []), transport]);
      return {
        transport,
        evidence: { evidence: "hash-only" },
        exited: transport.closed.then(() => ({ code: 0, signal: null })),
        close: () => transport.close(),
      };
    },
  });
  downstream.deliver(Buffer.from(hello));
  downstream.deliver(Buffer.from(opened));
  for (const one of steps) {
    const child = "server" in one ? children.get(one.server)?.at(-1) : undefined;
    if (one.do === "client") downstream.deliver(one.bytes);
    else if (one.do === "server") child?.deliver(one.bytes);
    else if (one.do === "answer") answerLast(child, one.last, one.result);
    else if (one.do === "exit") child?.end();
    else if (one.do === "fault") child?.fault(new FramingError("FRAME_NOT_UTF8", "a bad byte", { offset: 3 }));
    else if (one.do === "wait") scheduler.advance(one.ms);
    await settle();
  }
  await session.close();
  const asked = steps.flatMap((one) => (one.do === "client" ? [rawId(one.bytes) ?? "none"] : []));
  checkFrames(downstream, [...children.values()].flat(), [...asked, '"hello"']);
  checkRecords(events);
}

/** Answers one of the last requests that a child got, perhaps again. */
function answerLast(child: DirectTransport | undefined, last: number, result: string): void {
  const ids = child?.sent.flatMap((bytes) => (scanEnvelope(bytes).kind === "request" ? [rawId(bytes)] : [])) ?? [];
  const id = ids.at(-1 - last);
  if (id !== undefined) child?.deliver(Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":${result}}`));
}

/** Everything that left is one message; no id has more good answers than requests. */
function checkFrames(
  downstream: DirectTransport,
  children: readonly DirectTransport[],
  asked: readonly string[],
): void {
  for (const bytes of children.flatMap(({ sent }) => sent)) readSent(bytes);
  const answered = downstream.sent.map(readSent).filter(({ message }) => "result" in message);
  for (const { id } of answered) {
    const count = answered.filter((other) => other.id === id).length;
    expect(count).toBeLessThanOrEqual(asked.filter((other) => other === id).length);
  }
}

function readSent(bytes: Uint8Array): { readonly message: object; readonly id: string } {
  const message: unknown = JSON.parse(Buffer.from(bytes).toString());
  if (typeof message !== "object" || message === null) throw new Error("not a message");
  return { message, id: rawId(bytes) ?? "none" };
}

/** As written: ids beyond 2^53 are kept in bytes, which a parser of numbers cannot say. */
function rawId(bytes: Uint8Array): string | undefined {
  try {
    const { kind, id } = scanEnvelope(bytes, [], { grammar: "full" });
    return id && kind !== "notification" ? Buffer.from(bytes.subarray(id.start, id.end)).toString() : undefined;
  } catch (error) {
    if (!isFramingError(error)) throw error;
    return undefined; // A hostile frame that is no message asks for nothing.
  }
}

function checkRecords(events: readonly RelayEvent[]): void {
  const idsOf = (type: string) =>
    events.flatMap((event) => (event.type === type && "callId" in event ? [event.callId] : [])).sort();
  expect(idsOf("call.outcome")).toEqual(idsOf("call.intent"));
}
