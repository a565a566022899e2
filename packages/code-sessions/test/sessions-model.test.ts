import fc from "fast-check";
import { expect, it } from "vitest";
import { isSessionError, type Session } from "../src/index.js";
import { settled } from "./fakes/deferred.js";
import { openFakeSet } from "./fakes/set.js";

const owners = ["ada", "bob", "cy"] as const;
const ids = ["a", "b", "c"] as const;
const step = fc.record({
  // Most of them, so that the caps are met.
  kind: fc.constantFrom("start", "start", "start", "stop", "die", "look", "wait"),
  owner: fc.constantFrom(...owners),
  id: fc.constantFrom(...ids),
});
// Two of the owners have room for all that is theirs, and none for the third.
const maxSessions = 2;
const maxTotalSessions = 4;

/** What there should be: living sessions and how the last ended one ended, by owner and name. */
interface Model {
  readonly living: Map<string, Session>;
  readonly ended: Map<string, "dead" | "stopped">;
}

const codeOf = async (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => (isSessionError(error) ? error.code : String(error)),
  );

/** How a start has to be answered. */
function answerTo(owner: string, id: string, { living }: Model): string | undefined {
  if (living.has(`${owner} ${id}`)) return "SESSION_EXISTS";
  const own = ids.filter((each) => living.has(`${owner} ${each}`)).length;
  return own >= maxSessions || living.size >= maxTotalSessions ? "SESSION_LIMIT_REACHED" : undefined;
}

it("whatever owners do, each sees exactly what is its own, and both caps are kept", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: "max" }), async (steps) => {
      await using set = openFakeSet({ limits: { maxSessions, maxTotalSessions, endedMs: 1_000 } });
      const model: Model = { living: new Map(), ended: new Map() };
      for (const { kind, owner, id } of steps) {
        const key = `${owner} ${id}`;
        const living = model.living.get(key);
        if (kind === "start") {
          const wanted = answerTo(owner, id, model);
          expect(await codeOf(set.sessions.start({ owner, id }))).toBe(wanted);
          if (wanted === undefined) model.living.set(key, set.sessions.get(owner, id));
        } else if (kind === "stop" && living !== undefined) {
          await living.stop();
          model.living.delete(key);
          model.ended.set(key, "stopped");
        } else if (kind === "die" && living !== undefined) {
          const at = set.parts.sessions.indexOf(living);
          set.parts.opened[at]?.worker.goes.resolve(undefined);
          await living.ended;
          model.living.delete(key);
          model.ended.set(key, "dead");
        } else if (kind === "wait") {
          await settled();
          set.clock.advance(1_000);
          model.ended.clear();
        }
        await settled();
        check(set.sessions, model);
      }
    }),
    { numRuns: 60 },
  );
});

function check(sessions: ReturnType<typeof openFakeSet>["sessions"], { living, ended }: Model): void {
  expect(sessions.counts().sessions).toBe(living.size);
  for (const owner of owners) {
    const own = ids.filter((id) => living.has(`${owner} ${id}`));
    expect(sessions.list(owner).map(({ id }) => id)).toEqual(own);
    for (const id of ids) {
      const key = `${owner} ${id}`;
      expect(sessions.status(owner, id)?.state).toBe(living.has(key) ? "active" : ended.get(key));
    }
  }
  expect(sessions.listAll()).toHaveLength(living.size);
}
