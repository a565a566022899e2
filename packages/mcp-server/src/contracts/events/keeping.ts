import type { EventTrial } from "./calls.js";
import { eventOf, sessionIds, unknownSessions } from "./events.js";

/** One promise of an EventStore. */
export interface EventCheck {
  readonly name: string;
  run(trial: EventTrial): Promise<void>;
}

const fifty: readonly number[] = Array.from({ length: 50 }, (_, at) => at + 1);

/** What is appended, read and forgotten. */
export const keeping: readonly EventCheck[] = [
  {
    name: "readAfter gives events as they were appended, each member and each letter",
    async run({ append, wantEvents }) {
      const texts = [
        "{}",
        '{ "b" : 1,\t"a": 1.0, "b2": 1e2 }',
        JSON.stringify("\u0000 \u2028 grüße \r\n\n 🦊 \ud800 %s ' ` \\ \""),
        '"\u2028 grüße 🦊"',
        '{"__proto__":null}',
        JSON.stringify("x".repeat(10_000)),
      ];
      const events = texts.flatMap((message, at) => [
        eventOf(1, 4 * at + 1, "", { message, needs: 0, droppable: true }),
        eventOf(1, 4 * at + 3, "", { message, needs: 4 * at + 1, droppable: false }),
      ]);
      for (const event of events) await append("a", event);
      await wantEvents("a", 1, events);
    },
  },
  {
    name: "readAfter gives what followed a position, in order, also for positions that no event has",
    async run({ append, wantEvents }) {
      const events = [1, 2, 9, 10, 11, 99, 100, 101, 1_000, 70_000, 3_000_000_000].map((at) => eventOf(1, at));
      for (const event of events) await append("a", event);
      for (const after of [0, 1, 2, 5, 9, 10, 50, 100, 999, 70_000, 2_999_999_999, 3_000_000_000, 4_000_000_000]) {
        await wantEvents(
          "a",
          1,
          events.filter(({ position }) => position > after),
          after,
        );
      }
    },
  },
  {
    name: "streams of a session are apart, also stream 0, and when they grow in turns",
    async run({ append, wantEvents }) {
      const streams = [0, 1, 2, 10, 11, 21, 110];
      const events = fifty.slice(0, 5).flatMap((position) => streams.map((stream) => eventOf(stream, position)));
      for (const event of events) await append("a", event);
      for (const stream of streams)
        await wantEvents(
          "a",
          stream,
          events.filter((event) => event.stream === stream),
        );
      for (const stream of [3, 12, 100, 111, -1]) await wantEvents("a", stream, []);
    },
  },
  {
    name: "sessions are apart, whatever their ids are, and though they number their streams and events alike",
    async run({ append, wantEvents }) {
      for (const position of [1, 2]) {
        for (const session of sessionIds) {
          for (const stream of [0, 1, 2]) await append(session, eventOf(stream, position, session));
        }
      }
      for (const session of sessionIds) {
        for (const stream of [0, 1, 2]) {
          await wantEvents(
            session,
            stream,
            [1, 2].map((position) => eventOf(stream, position, session)),
          );
        }
      }
    },
  },
  {
    name: "a session that nobody appended to has no events, whatever its id is, and can be forgotten",
    async run({ append, forget, wantEvents }) {
      await append("a", eventOf(1, 1));
      for (const session of [...unknownSessions, ...sessionIds.slice(1)]) {
        await wantEvents(session, 1, []);
        await forget(session);
      }
      await wantEvents("a", 1, [eventOf(1, 1)]);
    },
  },
  {
    name: "readAfter knows of every append that was called before it, also of those that nobody waited for, in the order of calls",
    async run({ append, wantEvents }) {
      const appended: Promise<void>[] = [];
      for (const position of fifty) {
        for (const stream of [1, 2]) appended.push(append("a", eventOf(stream, position)));
        if (position % 10 === 0) {
          const known = fifty.slice(0, position);
          await Promise.all(
            [1, 2].map((stream) =>
              wantEvents(
                "a",
                stream,
                known.map((at) => eventOf(stream, at)),
              ),
            ),
          );
        }
      }
      await Promise.all(appended);
      for (const stream of [1, 2])
        await wantEvents(
          "a",
          stream,
          fifty.map((at) => eventOf(stream, at)),
        );
    },
  },
  {
    name: "an answer of readAfter is of its moment: it neither grows nor is used up",
    async run({ trace, append, readAfter, forget, wantEvents }) {
      const first = [eventOf(1, 1), eventOf(1, 2)];
      for (const event of first) await append("a", event);
      const answer = await readAfter("a", 1, 0);
      await append("a", eventOf(1, 3));
      trace.want("an answer that was given does not grow", answer, first);
      for (let times = 0; times < 2; times += 1) await wantEvents("a", 1, [...first, eventOf(1, 3)]);
      await forget("a");
      trace.want("an answer that was given is not emptied", answer, first);
    },
  },
  {
    name: "forget forgets all streams of a session and no other, and may be called again",
    async run({ append, forget, wantEvents }) {
      const others = sessionIds.filter((session) => session !== "a");
      for (const session of sessionIds) {
        for (const stream of [0, 1, 11]) await append(session, eventOf(stream, 1, session));
      }
      for (let times = 0; times < 2; times += 1) {
        await forget("a");
        for (const stream of [0, 1, 11]) await wantEvents("a", stream, []);
      }
      for (const session of others) {
        for (const stream of [0, 1, 11]) await wantEvents(session, stream, [eventOf(stream, 1, session)]);
      }
    },
  },
  {
    name: "forget forgets also what was appended just before it and not waited for",
    async run({ append, forget, wantEvents }) {
      for (let times = 0; times < 5; times += 1) {
        const session = `a${times}`;
        const appended = fifty.map((position) => append(session, eventOf(1, position)));
        await Promise.all([...appended, forget(session)]);
        await wantEvents(session, 1, []);
      }
    },
  },
];
