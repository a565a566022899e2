import type { SessionEvent, Sessions, SessionsOptions } from "../../src/index.js";
import { createSessionSet } from "../../src/session-set.js";
import { createFakeLeases, type FakeLeases } from "./leases.js";
import { createManualClock, type ManualClock } from "./manual-clock.js";
import { createFakeParts, type FakeParts } from "./parts.js";

/** A set of sessions over fakes. */
export interface FakeSet extends AsyncDisposable {
  readonly sessions: Sessions;
  readonly fake: FakeLeases;
  readonly parts: FakeParts;
  readonly clock: ManualClock;
  readonly events: readonly SessionEvent[];
  readonly faults: readonly unknown[];
}

export function openFakeSet(options: Partial<SessionsOptions> = {}, fake = createFakeLeases()): FakeSet {
  const parts = createFakeParts();
  const clock = createManualClock();
  const events: SessionEvent[] = [];
  const faults: unknown[] = [];
  const sessions = createSessionSet(
    {
      leases: fake.leases,
      profile: "python",
      scheduler: clock,
      record: (event) => void events.push(event),
      onFault: (fault) => void faults.push(fault),
      ...options,
    },
    parts,
  );
  return { sessions, fake, parts, clock, events, faults, [Symbol.asyncDispose]: sessions.close };
}
