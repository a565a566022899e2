import type { StreamEvent } from "../../http/legacy/event-store.js";
import type { Random } from "../random.js";
import type { EventTrial } from "./calls.js";
import { eventOf } from "./events.js";

const sessions = ["a", "A", "aa", "a:1", "a:1:11", "__proto__"] as const;
const streams = [0, 1, 11] as const;

/** Up to 60 appends (some not waited for), readings and forgettings in a few sessions and streams. */
export async function stepByStep({ append, forget, wantEvents }: EventTrial, random: Random): Promise<void> {
  const model = new Map<string, StreamEvent[]>();
  const last = new Map<string, number>();
  const ended = new Set<string>();
  const underWay: Promise<void>[] = [];
  const steps = 1 + random.below(60);
  for (let step = 0; step < steps; step += 1) {
    const [session, stream] = [random.pick(sessions), random.pick(streams)];
    const kept = model.get(`${session} ${stream}`) ?? [];
    const kind = random.pick([
      "append",
      "append",
      "append",
      "append",
      "append",
      "append",
      "append",
      "append",
      "read",
      "read",
      "read",
      "forget",
    ]);
    if (kind === "append" && !ended.has(session)) {
      const position = (last.get(`${session} ${stream}`) ?? 0) + 1 + random.below(3);
      const event = eventOf(stream, position, session, {
        droppable: random.below(2) === 0,
        needs: random.below(position),
      });
      last.set(`${session} ${stream}`, position);
      model.set(`${session} ${stream}`, [...kept, event]);
      const appended = append(session, event);
      if (random.below(2) === 0) await appended;
      else underWay.push(appended);
    } else if (kind !== "forget") {
      const after = random.below(1 + (last.get(`${session} ${stream}`) ?? 0));
      await wantEvents(
        session,
        stream,
        kept.filter(({ position }) => position > after),
        after,
      );
    } else {
      await Promise.all(underWay.splice(0));
      await forget(session);
      ended.add(session); // nothing of it is appended later: that is promised to the store
      for (const each of streams) model.delete(`${session} ${each}`);
    }
  }
  await Promise.all(underWay);
  for (const session of sessions) {
    for (const stream of streams) await wantEvents(session, stream, model.get(`${session} ${stream}`) ?? []);
  }
}
