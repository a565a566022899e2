import { describe, expect, it } from "vitest";
import type { EventStore, StreamEvent } from "../../../src/http/legacy/event-store.js";

/** What every store of events has to do, whoever made it. */
export function testEventStore(name: string, createStore: () => EventStore | Promise<EventStore>): void {
  const event = (stream: number, position: number, message = `{"n":${position}}`): StreamEvent => {
    return { stream, position, needs: position - 1, droppable: position % 3 === 0, message };
  };
  describe(`an event store: ${name}`, () => {
    it("gives back what followed a position of a stream, in order and as it was", async () => {
      const store = await createStore();
      const events = [event(1, 2), event(1, 3, '{"text":"grüße \\n 🦊"}'), event(1, 7)];
      for (const one of events) await store.append("a", one);
      expect(await store.readAfter("a", 1, 0)).toEqual(events);
      expect(await store.readAfter("a", 1, 2)).toEqual(events.slice(1));
      expect(await store.readAfter("a", 1, 5)).toEqual(events.slice(2));
      expect(await store.readAfter("a", 1, 7)).toEqual([]);
    });

    it("keeps streams apart, and sessions that number theirs alike", async () => {
      const store = await createStore();
      await store.append("a", event(1, 1, '"a1"'));
      await store.append("a", event(2, 1, '"a2"'));
      await store.append("b", event(1, 1, '"b1"'));
      expect(await store.readAfter("a", 1, 0)).toMatchObject([{ message: '"a1"' }]);
      expect(await store.readAfter("a", 2, 0)).toMatchObject([{ message: '"a2"' }]);
      expect(await store.readAfter("b", 1, 0)).toMatchObject([{ message: '"b1"' }]);
      expect(await store.readAfter("c", 1, 0)).toEqual([]);
      expect(await store.readAfter("b", 2, 0)).toEqual([]);
    });

    it("knows of what was appended before, also when nobody waited for it", async () => {
      const store = await createStore();
      for (let position = 1; position <= 50; position++) void store.append("a", event(1, position));
      const read = await store.readAfter("a", 1, 0);
      expect(read.map(({ position }) => position)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
    });

    it("forgets a session wholly, may be told so again, and keeps the others", async () => {
      const store = await createStore();
      for (const session of ["a", "b"]) await store.append(session, event(1, 1));
      for (let times = 0; times < 2; times++) await store.forget("a");
      expect(await store.readAfter("a", 1, 0)).toEqual([]);
      expect(await store.readAfter("b", 1, 0)).toHaveLength(1);
    });
  });
}
