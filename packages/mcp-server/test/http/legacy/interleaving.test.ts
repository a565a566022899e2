import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../../../fixtures/counts.js";
import type { EventStore } from "../../../src/http/legacy/event-store.js";
import { createMemoryEventStore } from "../../../src/http/legacy/memory-event-store.js";
import { answerOf, type Driven, drive, settled } from "./driven.js";
import type { MemoryExchange } from "./memory-exchange.js";

/** What a client has of one stream, over all the connections that carried it. */
interface Reader {
  exchange: MemoryExchange | undefined;
  lastId: string | undefined;
  readonly got: string[];
}
interface Session {
  readonly name: string;
  readonly session: string;
  readonly general: Reader;
  readonly told: string[];
  readonly calls: { readonly name: string; readonly reader: Reader; readonly told: string[]; isOver: boolean }[];
}

const reader = (exchange?: MemoryExchange): Reader => ({ exchange, lastId: undefined, got: [] });
const labelOf = (message: { readonly [key: string]: unknown }): string => {
  const { params } = JSON.parse(JSON.stringify(message));
  return String(answerOf(message) ?? params.message ?? params.uri);
};

/** The client's connection breaks after it got some part of what was sent; the server may not notice. */
function breakOff(reader: Reader, part: number, isNoticed: boolean): void {
  const { exchange } = reader;
  if (exchange === undefined) return;
  const { events } = exchange;
  // Without any event it has no place to come back to: that is another story.
  const count = Math.max(reader.lastId === undefined ? 1 : 0, Math.floor(part * events.length));
  for (const { id, message } of events.slice(0, count)) {
    if (message !== undefined) reader.got.push(labelOf(message));
    reader.lastId = id ?? reader.lastId;
  }
  reader.exchange = undefined;
  if (isNoticed) exchange.leave();
}

/** What is read comes some turns later, as it was when it was asked for. */
function lateStore(turns: number): EventStore {
  const store = createMemoryEventStore();
  return {
    ...store,
    async readAfter(session, stream, position) {
      const events = await store.readAfter(session, stream, position);
      for (let turn = 0; turn < turns; turn++) await settled();
      return events;
    },
  };
}

async function comeBack(driven: Driven, { name, session }: Session, reader: Reader): Promise<void> {
  if (reader.exchange !== undefined) return;
  const exchange = await driven.get({ session, principal: name, lastEventId: reader.lastId });
  reader.exchange = exchange;
}

const step = fc.record({
  who: fc.nat({ max: 1 }),
  what: fc.constantFrom(
    "call",
    "progress",
    "progress",
    "tell",
    "tell",
    "answer",
    "release",
    "break",
    "back",
    "breakGet",
    "backGet",
  ),
  which: fc.nat({ max: 3 }),
  part: fc.double({ min: 0, max: 1, noNaN: true }),
  isNoticed: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Sends, breaks and resumes as the steps say; then all comes back, ends, and has to be whole. */
async function play(steps: readonly Step[], turns: number): Promise<void> {
  const templates = [{ uriTemplate: "note:///{name}", name: "note", permission: "use", read: () => "" }];
  const driven = drive({ eventStore: lateStore(turns) }, { resourceTemplates: templates });
  let count = 0;
  const caughtUp = async (): Promise<void> => {
    for (let turn = 0; turn < 2 * turns + 2; turn++) await settled();
  };
  const open = async (name: string): Promise<Session> => {
    const session = await driven.initialize("2025-11-25", name);
    return { name, session, general: reader(await driven.get({ session, principal: name })), told: [], calls: [] };
  };
  const sessions = [await open("ada"), await open("eve")];
  const run = async ({ who, what, which, part, isNoticed }: Step): Promise<void> => {
    const session = sessions[who];
    if (session === undefined) return;
    const from = { session: session.session, principal: session.name };
    const call = session.calls[which % Math.max(1, session.calls.length)];
    const handler = driven.calls.get(call?.name ?? "");
    count += 1;
    const label = `${session.name}${count}`;
    switch (what) {
      case "call": {
        // Both sessions number their requests and tokens alike.
        const id = session.calls.length;
        const exchange = await driven.call(id, label, from, { progressToken: id });
        driven.calls.get(label)?.scope.progress(0, 1, label);
        session.calls.push({ name: label, reader: reader(exchange), told: [label], isOver: false });
        return;
      }
      case "tell":
        driven.post(
          { jsonrpc: "2.0", id: label, method: "resources/subscribe", params: { uri: `note:///${label}` } },
          from,
        );
        await settled();
        driven.server.resourceUpdated(`note:///${label}`);
        session.told.push(`note:///${label}`);
        return;
      case "breakGet":
        return breakOff(session.general, part, isNoticed);
      case "backGet":
        return comeBack(driven, session, session.general);
    }
    if (call === undefined) return;
    switch (what) {
      case "progress":
        if (!call.isOver) call.told.push(label);
        return handler?.scope.progress(count, undefined, label);
      case "release":
        return handler?.scope.releaseStream();
      case "answer":
        if (call.isOver) return;
        call.isOver = true;
        call.told.push(label);
        handler?.answer(label);
        await settled();
        return;
      case "break":
        return breakOff(call.reader, part, isNoticed);
      case "back":
        if (call.reader.got.at(-1) !== call.told.at(-1) || !call.isOver) await comeBack(driven, session, call.reader);
    }
  };
  for (const one of steps) await run(one);
  for (const session of sessions) {
    for (const call of session.calls) {
      breakOff(call.reader, 0.5, true);
      if (call.isOver && call.reader.got.at(-1) === call.told.at(-1)) continue;
      await comeBack(driven, session, call.reader);
      await caughtUp();
      if (!call.isOver) {
        call.told.push("end");
        driven.calls.get(call.name)?.answer("end");
        await settled();
      }
      expect(call.reader.exchange?.isEnded).toBe(true);
      breakOff(call.reader, 1, true);
      expect(call.reader.got).toEqual(call.told);
    }
    breakOff(session.general, 0.5, true);
    await comeBack(driven, session, session.general);
    await caughtUp();
    breakOff(session.general, 1, true);
    expect(session.general.got).toEqual(session.told);
  }
  expect(driven.errors).toEqual([]);
  driven.time.advance(1_800_000);
  expect([driven.side.sessionCount, driven.time.timers.set]).toEqual([0, 0]);
}

describe("whatever breaks and comes back in whatever order", () => {
  it("each message arrives once, in order, on the stream of its request, in its own session", async () => {
    const numRuns = scaledCount("interleavings", 4_000);
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), fc.nat({ max: 4 }), play), {
      numRuns,
    });
  });
});
