import { describe, expect, it } from "vitest";
import type { SessionLimits } from "../../../src/http/legacy/limits.js";
import { createMemoryEventStore } from "../../../src/http/legacy/memory-event-store.js";
import { type Driven, drive, settled } from "./driven.js";

interface Resumable {
  readonly session: string;
  readonly lastEventId: string | undefined;
}

/** Streams of one session that are over and can be sent again, each by its first event. */
async function finished(driven: Driven, count: number, principal?: string): Promise<readonly Resumable[]> {
  const session = await driven.initialize("2025-11-25", principal);
  const made: Resumable[] = [];
  for (let id = 1; id <= count; id += 1) {
    const exchange = await driven.call(id, `${session} ${id}`, { session, principal }, { progressToken: id });
    const { scope, answer } = driven.calls.get(`${session} ${id}`) ?? {};
    scope?.progress(1);
    answer?.("done");
    await settled();
    made.push({ session, lastEventId: exchange.events[0]?.id });
  }
  return made;
}
const store = (limits: SessionLimits) => ({ eventStore: createMemoryEventStore(), limits });

describe("streams that are sent again to a client that does not read", () => {
  it("are so many in one session, and each only once: a newer response takes its place", async () => {
    const driven = drive(store({ maxReplaysPerSession: 2 }));
    const [one, two, three] = await finished(driven, 3);
    const first = await driven.get({ ...one, isReading: false });
    const second = await driven.get({ ...two, isReading: false });
    const refused = await driven.get({ ...three });
    expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "1"]);
    const again = await driven.get({ ...one, isReading: false });
    expect([first.isAborted, second.isAborted, again.status]).toEqual([true, false, 200]);
    again.read();
    await settled();
    const served = await driven.get({ ...three });
    expect([again.isEnded, served.status, served.messages.length, served.isEnded]).toEqual([true, 200, 2, true]);
    expect(driven.errors).toEqual([]);
  });

  it("are so many in all sessions", async () => {
    const driven = drive(store({ maxReplays: 1 }));
    const [mine] = await finished(driven, 1);
    const [yours] = await finished(driven, 1);
    const slow = await driven.get({ ...mine, isReading: false });
    expect((await driven.get({ ...yours })).status).toBe(503);
    slow.leave();
    await settled();
    expect((await driven.get({ ...yours })).status).toBe(200);
  });

  it("and go on are cut off when their client comes back", async () => {
    const driven = drive(store({}));
    const session = await driven.initialize();
    const exchange = await driven.call(1, "a", { session }, { progressToken: 1 });
    driven.calls.get("a")?.scope.progress(1);
    const again = { session, lastEventId: exchange.events[0]?.id };
    exchange.leave();
    const slow = await driven.get({ ...again, isReading: false });
    const next = await driven.get(again);
    expect([slow.isAborted, next.isAborted]).toEqual([true, false]);
    driven.calls.get("a")?.answer("done");
    await settled();
    expect([next.messages.length, next.isEnded]).toEqual([2, true]);
  });

  it("are no longer counted when nothing was to be sent", async () => {
    const driven = drive(store({ maxReplays: 1 }));
    const [one] = await finished(driven, 1);
    for (let count = 0; count < 3; count += 1) {
      expect((await driven.get({ ...one, lastEventId: "1-zz" })).status).toBe(400);
    }
    expect((await driven.get({ ...one })).status).toBe(200);
  });
});
