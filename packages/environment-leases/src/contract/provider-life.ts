import assert from "node:assert/strict";
import type { ProviderCheck } from "./provider-contract.js";
import { assertGone, longMs, profileOf, refused, rejectsWith, soon } from "./provider-subject.js";

/** Workers come and, above all, go. */
export const lifeChecks: Readonly<Record<string, ProviderCheck>> = {
  async "creates a worker that exists, is listed, and is gone once closed"({ provider, create }) {
    const { worker, environment } = await create();
    assert.equal(await provider.exists(worker), "yes");
    assert.ok((await provider.listWorkers()).includes(worker));
    await environment.close();
    await assertGone(provider, worker);
    assert.equal((await soon(environment.ended, "its end")).reason, "closed");
  },
  async "closes an environment twice at once, again later, and after it was destroyed"({ provider, create }) {
    const { worker, environment } = await create();
    await Promise.all([environment.close(), environment.close(), environment[Symbol.asyncDispose]()]);
    await environment.close();
    await provider.destroy(worker);
    await environment.close();
    await assertGone(provider, worker);
  },
  async "destroys a living worker, and its environment tells of its end"({ provider, create }) {
    const { worker, environment } = await create();
    await Promise.all([provider.destroy(worker), provider.destroy(worker)]);
    await assertGone(provider, worker);
    await soon(environment.ended, "its end");
  },
  async "takes the destruction of what does not exist for done"({ provider, name }) {
    const worker = name();
    await provider.destroy(worker);
    assert.equal(await provider.exists(worker), "no");
  },
  async "keeps workers apart: the end of one leaves the other"({ provider, create }) {
    const one = await create();
    const other = await create();
    await one.environment.close();
    assert.equal(await provider.exists(other.worker), "yes");
    assert.equal((await other.environment.run(other.programs.exit(0))).exitCode, 0);
  },
  async "refuses a second worker of the same name, and the first lives on"(trial) {
    const { worker, environment, programs } = await trial.create();
    const second = trial.provider.create(worker, profileOf(trial), { deadlineMs: longMs });
    const [outcome] = await Promise.allSettled([second]);
    assert.equal(outcome?.status, "rejected");
    assert.equal((await environment.run(programs.exit(0))).exitCode, 0);
  },
  async "leaves nothing of a create that was aborted before or on the way"(trial) {
    const { provider, name } = trial;
    const reason = new Error("not wanted any more");
    const before = name();
    const early = { deadlineMs: longMs, signal: AbortSignal.abort(reason) };
    await rejectsWith(provider.create(before, profileOf(trial), early), reason, "aborted before");
    await assertGone(provider, before);
    const onTheWay = name();
    const abort = new AbortController();
    const creating = provider.create(onTheWay, profileOf(trial), { deadlineMs: longMs, signal: abort.signal });
    abort.abort(reason);
    await rejectsWith(creating, reason, "aborted on the way");
    await assertGone(provider, onTheWay);
  },
  async "ends by its own deadline, without anybody's call"(trial) {
    const worker = trial.name();
    const environment = await trial.provider.create(worker, profileOf(trial), { deadlineMs: 1_500 });
    assert.equal((await soon(environment.ended, "its end by the deadline")).reason, "deadline");
    await environment.close();
    await assertGone(trial.provider, worker);
  },
  async "moves its deadline, out and in"(trial) {
    const worker = trial.name();
    const environment = await trial.provider.create(worker, profileOf(trial), { deadlineMs: 2_000 });
    const startedAt = performance.now();
    environment.setDeadline(4_000);
    assert.equal((await soon(environment.ended, "its end by the later deadline")).reason, "deadline");
    assert.ok(performance.now() - startedAt >= 3_500, "the first deadline did not count any more");
    const other = await trial.create();
    other.environment.setDeadline(200);
    assert.equal((await soon(other.environment.ended, "its end by the earlier deadline")).reason, "deadline");
  },
  async "refuses everything once it has ended, and tells so at once"({ create }) {
    const { environment, programs } = await create();
    await environment.close();
    await refused(environment.run(programs.exit(0)), ["ENVIRONMENT_ENDED"], "run");
    await refused(environment.open(programs.copy()), ["ENVIRONMENT_ENDED"], "open");
    environment.setDeadline(1_000);
    environment.usage();
  },
  async "says what it holds of every limit of its profile"(trial) {
    const { environment } = await trial.create();
    const held = new Set(environment.enforced.map(({ limit }) => limit));
    for (const limit of trial.provider.capabilities.limits) {
      const isAsked = profileOf(trial).policy.limits[limit] !== undefined;
      if (isAsked) assert.ok(held.has(limit), `${limit} is among what is enforced`);
    }
    assert.ok(environment.workspace.startsWith("/"), "the workspace is an absolute path");
  },
  async "is found and ended by a provider that did not make it"(trial) {
    if (trial.another === undefined) return;
    const { worker, environment } = await trial.create();
    const later = await trial.another();
    try {
      assert.equal(await later.exists(worker), "yes");
      assert.ok((await later.listWorkers()).includes(worker));
      await later.destroy(worker);
      await assertGone(later, worker);
      await soon(environment.ended, "its end, as its first provider sees it");
    } finally {
      await later.close();
    }
  },
  async "is taken over by a provider that can attach"(trial) {
    if (trial.another === undefined || trial.provider.attach === undefined) return;
    const { worker } = await trial.create();
    const later = await trial.another();
    try {
      const environment = await later.attach?.(worker, profileOf(trial), { deadlineMs: longMs });
      assert.ok(environment !== undefined);
      assert.equal((await environment.run(trial.programs(environment).exit(0))).exitCode, 0);
      await environment.close();
      await assertGone(later, worker);
    } finally {
      await later.close();
    }
  },
  async "ends every worker when it is closed, and closes twice"(trial) {
    const { provider } = trial;
    const made = [await trial.create(), await trial.create()];
    await Promise.all([provider.close(), provider.close()]);
    for (const { environment } of made) await soon(environment.ended, "the end of a worker");
    await provider.close();
    const [late] = await Promise.allSettled([trial.create()]);
    assert.equal(late?.status, "rejected", "no worker after that");
  },
};
