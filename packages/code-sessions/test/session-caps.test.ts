import fc from "fast-check";
import { expect, it } from "vitest";
import { isSessionError } from "../src/index.js";
import { settled } from "./fakes/deferred.js";
import { openFakeSet } from "./fakes/set.js";

const five = ["a", "b", "c", "d", "e"] as const;
it("five sessions of an owner, and one more after one has stopped; another owner has five of its own", async () => {
  await using set = openFakeSet();
  const [first] = await Promise.all(five.map((id) => set.sessions.start({ owner: "ada", id })));
  const refused = {
    code: "SESSION_LIMIT_REACHED",
    message: "no more than 5 sessions at once",
    cure: "stop a session first",
  };
  await expect(set.sessions.start({ owner: "ada" })).rejects.toMatchObject(refused);
  for (const id of five) await set.sessions.start({ owner: "bob", id });
  await expect(set.sessions.start({ owner: "bob" })).rejects.toMatchObject(refused);
  await first?.stop();
  await expect(set.sessions.start({ owner: "bob" })).rejects.toMatchObject(refused);
  await set.sessions.start({ owner: "ada", id: "a" });
});

it("all owners together have so many sessions, and the refusal tells nothing of others", async () => {
  await using set = openFakeSet({ limits: { maxSessions: 2, maxTotalSessions: 3 } });
  const session = await set.sessions.start({ owner: "ada", id: "a" });
  await set.sessions.start({ owner: "bob", id: "b" });
  await set.sessions.start({ owner: "bob", id: "c" });
  await expect(set.sessions.start({ owner: "ada", id: "d" })).rejects.toMatchObject({
    code: "SESSION_LIMIT_REACHED",
    message: "no more than 3 sessions of all owners at once",
    cure: "try again later, or ask the operator to raise maxTotalSessions",
  });
  await expect(set.sessions.start({ owner: "bob" })).rejects.toMatchObject({ cure: "stop a session first" });
  await session.stop();
  await set.sessions.start({ owner: "cy" });
});

it.each([
  { name: "its owner's", limits: { maxSessions: 1 }, next: "ada" },
  { name: "all owners'", limits: { maxTotalSessions: 1 }, next: "bob" },
])("a session that is ending takes no place under $name cap", async ({ limits, next }) => {
  await using set = openFakeSet({ limits });
  const session = await set.sessions.start({ owner: "ada", id: "a" });
  const stopped = session.stop();
  await set.sessions.start({ owner: next, id: "b" });
  await stopped;
});

it("where the cap of all owners is less than one owner's, it is that owner's", async () => {
  await using set = openFakeSet({ limits: { maxTotalSessions: 1 } });
  await set.sessions.start({ owner: "ada" });
  const own = { message: "no more than 1 sessions at once", cure: "stop a session first" };
  await expect(set.sessions.start({ owner: "ada" })).rejects.toMatchObject(own);
});

it("the cap of all owners is 64, or that of one owner where it is more", async () => {
  await using usual = openFakeSet({ limits: { warmWorkers: 0 } });
  for (let owner = 0; owner < 64; owner += 1) await usual.sessions.start({ owner: `owner-${owner}` });
  await expect(usual.sessions.start({ owner: "ada" })).rejects.toMatchObject({ message: /^no more than 64 / });
  await using many = openFakeSet({ limits: { warmWorkers: 0, maxSessions: 65 } });
  for (let count = 0; count < 65; count += 1) await many.sessions.start({ owner: "ada" });
  await expect(many.sessions.start({ owner: "bob" })).rejects.toMatchObject({ message: /^no more than 65 .* owners/ });
});

const step = fc.record({
  kind: fc.constantFrom("start", "stop"),
  owner: fc.constantFrom("ada", "bob"),
  id: fc.constantFrom("a", "b", "c"),
});
// The steps of a round happen while the sessions of those before them are still being started or are ending.
const rounds = fc.array(fc.array(step, { maxLength: 6 }), { maxLength: 12, size: "max" });
type Rounds = typeof rounds extends fc.Arbitrary<infer Value> ? Value : never;

/** What ada is answered, in the order of her steps. */
async function answersToAda(taken: Rounds): Promise<readonly unknown[]> {
  await using set = openFakeSet({ limits: { maxSessions: 2, maxTotalSessions: 5 } });
  const act = async ({ kind, owner, id }: Rounds[number][number]): Promise<unknown> => {
    try {
      await (kind === "start" ? set.sessions.start({ owner, id }) : set.sessions.get(owner, id).stop());
      return "done";
    } catch (error) {
      return isSessionError(error) ? [error.code, error.message, error.cure] : error;
    }
  };
  const answers: Promise<unknown>[] = [];
  for (const steps of taken) {
    for (const each of steps) {
      const answer = act(each);
      if (each.owner === "ada") answers.push(answer);
    }
    await settled();
  }
  return await Promise.all(answers);
}

it("what one owner starts and stops changes no answer to another while the total is not reached", async () => {
  await fc.assert(
    fc.asyncProperty(rounds, async (taken) => {
      const alone = taken.map((steps) => steps.filter(({ owner }) => owner === "ada"));
      expect(await answersToAda(taken)).toEqual(await answersToAda(alone));
    }),
    { numRuns: 60 },
  );
});
