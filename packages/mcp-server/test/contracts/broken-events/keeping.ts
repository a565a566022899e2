// Stores of events that keep something else than what they were given, or mix streams and sessions.
import type { EventStore } from "../../../src/contracts.js";
import type { BrokenEventStore } from "./sound.js";

const bySession = (sound: EventStore, change: (session: string, stream: number) => string): EventStore => ({
  append: (session, event) => sound.append(change(session, event.stream), event),
  readAfter: (session, stream, position) => sound.readAfter(change(session, stream), stream, position),
  forget: (session) => sound.forget(change(session, 0)),
});

export const brokenKeeping: readonly BrokenEventStore[] = [
  {
    fault: "keeps messages as parsed JSON",
    checks: ["readAfter gives events as they were appended"],
    breakIt: (sound) => ({
      append: (session, event) =>
        sound.append(session, { ...event, message: JSON.stringify(JSON.parse(event.message)) }),
    }),
  },
  {
    fault: "forgets what an event needs",
    checks: ["readAfter gives events as they were appended"],
    breakIt: (sound) => ({ append: (session, event) => sound.append(session, { ...event, needs: 0 }) }),
  },
  {
    fault: "sorts positions as texts",
    checks: ["readAfter gives what followed a position, in order"],
    breakIt: (sound) => ({
      async readAfter(session, stream, position) {
        const events = await sound.readAfter(session, stream, position);
        return [...events].sort((one, other) => (`${one.position}` < `${other.position}` ? -1 : 1));
      },
    }),
  },
  {
    fault: "gives the event of the position too",
    checks: ["readAfter gives what followed a position, in order"],
    breakIt: (sound) => ({
      readAfter: (session, stream, position) => sound.readAfter(session, stream, position - 1),
    }),
  },
  {
    fault: "gives nothing after a position that no event has",
    checks: ["also for positions that no event has"],
    breakIt: (sound) => ({
      async readAfter(session, stream, position) {
        const all = await sound.readAfter(session, stream, 0);
        if (position > 0 && !all.some((event) => event.position === position)) return [];
        return sound.readAfter(session, stream, position);
      },
    }),
  },
  {
    fault: "keeps positions in 32 bits",
    checks: ["readAfter gives what followed a position, in order"],
    breakIt: (sound) => ({
      append: (session, event) => sound.append(session, { ...event, position: event.position | 0 }),
    }),
  },
  {
    fault: "takes a stream for all whose numbers begin alike",
    checks: ["streams of a session are apart"],
    breakIt: (sound) => ({
      async readAfter(session, stream, position) {
        const streams = Array.from({ length: 120 }, (_, at) => at).filter((at) => `${at}`.startsWith(`${stream}`));
        return (await Promise.all(streams.map((at) => sound.readAfter(session, at, position)))).flat();
      },
    }),
  },
  {
    fault: "joins session and stream to one key",
    checks: ["sessions are apart"],
    breakIt(sound) {
      const keyed = bySession(sound, () => "all");
      return {
        append: (session, event) =>
          keyed.append("", { ...event, message: JSON.stringify([`${session}:${event.stream}:`, event.message]) }),
        async readAfter(session, stream, position) {
          const all = (
            await Promise.all([0, 1, 2, 10, 11, 21, 110].map((at) => keyed.readAfter("", at, position)))
          ).flat();
          const read = all.map((event) => ({ event, parsed: JSON.parse(event.message) }));
          const mine = read.filter(({ parsed: [key] }) => `${key}`.startsWith(`${session}:${stream}:`));
          return mine.map(({ event, parsed }) => ({ ...event, message: parsed[1] }));
        },
      };
    },
  },
  {
    fault: "compares sessions without case",
    checks: ["sessions are apart"],
    breakIt: (sound) => bySession(sound, (session) => session.toLowerCase()),
  },
  {
    fault: "knows streams by number alone",
    checks: ["sessions are apart"],
    breakIt: (sound) => bySession(sound, () => "all"),
  },
  {
    fault: "throws for a session that it does not know",
    checks: ["a session that nobody appended to has no events"],
    breakIt(sound) {
      const known = new Set<string>();
      return {
        append(session, event) {
          known.add(session);
          return sound.append(session, event);
        },
        readAfter(session, stream, position) {
          if (!known.has(session)) throw new Error("there is no such session");
          return sound.readAfter(session, stream, position);
        },
      };
    },
  },
];
