import type { StreamEvent } from "../../http/legacy/event-store.js";
import { eventOf } from "./events.js";
import type { EventCheck } from "./keeping.js";

const maxEvents = 256;

/** Whether these are some of those, each as it is there and in their order. */
function isPartOf(some: readonly StreamEvent[], all: readonly StreamEvent[]): boolean {
  let at = 0;
  for (const event of some) {
    while (at < all.length && JSON.stringify(inOrder(all[at])) !== JSON.stringify(inOrder(event))) at += 1;
    if (at === all.length) return false;
    at += 1;
  }
  return true;
}

function inOrder(event: StreamEvent | undefined): readonly unknown[] {
  return [event?.stream, event?.position, event?.needs, event?.droppable, event?.message];
}

/** What happens when a session has more events than the store keeps, in a store that keeps few. */
export const room: readonly EventCheck[] = [
  {
    name: "what a store forgets leaves the rest as it was and in order, and the newest can be appended still",
    async run({ trace, append, readAfter }) {
      const appended: StreamEvent[] = [];
      for (let position = 1; position <= maxEvents; position += 1) {
        appended.push(eventOf(1, position, "", { droppable: position % 2 === 0, message: "x".repeat(1_000) }));
        await append("a", eventOf(1, position, "", { droppable: position % 2 === 0, message: "x".repeat(1_000) }));
        if (position % 16 !== 0) continue;
        const kept = await readAfter("a", 1, 0);
        trace.want("what is kept is some of what was appended, unchanged and in order", isPartOf(kept, appended), true);
      }
      const kept = await readAfter("a", 1, 0);
      if (kept.length === maxEvents)
        trace.fail(`a store that keeps few events forgets some of ${maxEvents}`, kept.length);
      const after = kept[Math.floor(kept.length / 2)]?.position ?? 0;
      const rest = kept.filter(({ position }) => position > after);
      trace.want("what is kept after a position is the end of all that is kept", await readAfter("a", 1, after), rest);
    },
  },
  {
    name: "of one session a store forgets first what a client can do without",
    async run({ trace, append, readAfter }) {
      let before: readonly StreamEvent[] = [];
      for (let position = 1; position <= maxEvents; position += 1) {
        // First what is needed: a store that forgets the oldest, whatever it is, forgets it before the rest.
        const droppable = position > 4 && position % 4 !== 0;
        await append("a", eventOf(1, position, "", { droppable, message: "x".repeat(1_000) }));
        const now = await readAfter("a", 1, 0);
        const lost = before.filter((event) => !now.some((other) => other.position === event.position));
        const spared = now.filter((event) => event.droppable && event.position < position);
        if (lost.some((event) => !event.droppable) && spared.length > 0) {
          trace.fail("while there are droppable events only those are forgotten", {
            forgotten: lost.map((event) => event.position),
            droppableAndKept: spared.map((event) => event.position),
          });
        }
        before = now;
      }
      if (before.length === maxEvents)
        trace.fail(`a store that keeps few events forgets some of ${maxEvents}`, before.length);
    },
  },
];
