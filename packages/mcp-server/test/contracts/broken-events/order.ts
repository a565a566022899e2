// Stores of events that lose the order of calls, or forget too much, too little or the wrong thing.
import { setImmediate } from "node:timers/promises";
import type { StreamEvent } from "../../../src/contracts.js";
import type { BrokenEventStore } from "./sound.js";

export const brokenOrder: readonly BrokenEventStore[] = [
  {
    fault: "reads before what was appended has arrived",
    checks: ["readAfter knows of every append that was called before it"],
    breakIt: (sound) => ({
      async append(session, event) {
        await setImmediate();
        await sound.append(session, event);
      },
    }),
  },
  {
    fault: "orders appends by when they end",
    checks: ["in the order of calls"],
    breakIt(sound) {
      let count = 0;
      let underWay: Promise<void>[] = [];
      return {
        append(session, event) {
          count += 1;
          const turns = count % 3;
          const done = (async (): Promise<void> => {
            for (let turn = 0; turn < turns; turn += 1) await setImmediate();
            await sound.append(session, event);
          })();
          underWay.push(done);
          return done;
        },
        async readAfter(session, stream, position) {
          await Promise.all(underWay);
          underWay = [];
          return sound.readAfter(session, stream, position);
        },
      };
    },
  },
  {
    fault: "gives out its own list",
    checks: ["an answer of readAfter is of its moment"],
    breakIt(sound) {
      const lists = new Map<string, StreamEvent[]>();
      return {
        append(session, event) {
          const key = JSON.stringify([session, event.stream]);
          lists.set(key, lists.get(key) ?? []);
          lists.get(key)?.push(event);
          return sound.append(session, event);
        },
        readAfter(session, stream, position) {
          const list = lists.get(JSON.stringify([session, stream])) ?? [];
          return position === 0 ? list : sound.readAfter(session, stream, position);
        },
        forget(session) {
          for (const key of lists.keys()) if (JSON.parse(key)[0] === session) lists.delete(key);
          return sound.forget(session);
        },
      };
    },
  },
  {
    fault: "gives each event once",
    checks: ["an answer of readAfter is of its moment"],
    breakIt(sound) {
      const given = new Set<string>();
      return {
        async readAfter(session, stream, position) {
          const events = await sound.readAfter(session, stream, position);
          const fresh = events.filter((event) => !given.has(JSON.stringify([session, stream, event.position])));
          for (const event of events) given.add(JSON.stringify([session, stream, event.position]));
          return fresh;
        },
      };
    },
  },
  {
    fault: "forgets every session whose id begins alike",
    checks: ["forget forgets all streams of a session and no other"],
    breakIt(sound) {
      const known = new Set<string>();
      return {
        append(session, event) {
          known.add(session);
          return sound.append(session, event);
        },
        async forget(session) {
          for (const one of known) if (one.startsWith(session)) await sound.forget(one);
        },
      };
    },
  },
  {
    fault: "forgets the streams of requests and not stream 0",
    checks: ["forget forgets all streams of a session and no other"],
    breakIt(sound) {
      return {
        async forget(session) {
          const kept = await sound.readAfter(session, 0, 0);
          await sound.forget(session);
          for (const event of kept) await sound.append(session, event);
        },
      };
    },
  },
  {
    fault: "rejects to forget twice",
    checks: ["may be called again"],
    breakIt(sound) {
      const forgotten = new Set<string>();
      return {
        async forget(session) {
          if (forgotten.has(session)) throw new Error("there is no such session");
          forgotten.add(session);
          await sound.forget(session);
        },
      };
    },
  },
  {
    fault: "is given back what was under way when it forgot",
    checks: ["forget forgets also what was appended just before it"],
    breakIt(sound) {
      let last: Promise<unknown> = Promise.resolve();
      return {
        append(session, event) {
          const done = last.then(() => sound.append(session, event));
          last = done;
          return done;
        },
        async readAfter(session, stream, position) {
          await last;
          return sound.readAfter(session, stream, position);
        },
      };
    },
  },
  {
    fault: "loses the 25th event of a store",
    checks: ["whatever is done in whatever order, each stream is a list"],
    breakIt(sound) {
      let count = 0;
      return {
        append(session, event) {
          count += 1;
          if (count !== 25) return sound.append(session, event);
          return undefined;
        },
      };
    },
  },
  {
    fault: "drops the oldest, needed or not, when a session has too much",
    checks: ["of one session a store forgets first what a client can do without"],
    breakIt(sound) {
      return {
        async readAfter(session, stream, position) {
          return (await sound.readAfter(session, stream, position)).slice(-20);
        },
      };
    },
  },
  {
    fault: "cuts messages when a session has too much",
    checks: ["what a store forgets leaves the rest as it was"],
    breakIt(sound) {
      const count = new Map<string, number>();
      return {
        append(session, event) {
          const events = (count.get(session) ?? 0) + 1;
          count.set(session, events);
          return sound.append(session, events > 150 ? { ...event, message: event.message.slice(0, 50) } : event);
        },
      };
    },
  },
];
