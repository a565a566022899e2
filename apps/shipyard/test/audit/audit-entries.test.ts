import type { LeaseRecord } from "@berth/environment-leases";
import { expect, it } from "vitest";
import { leaseEntry } from "../../src/audit/audit-entries.js";

it.each(["python", "python@", "python@ada", "python@~0123456789abcdef0123456789abcdef"])(
  "an entry about a lease of %s names the profile as the configuration does",
  (profile) => {
    const lease: LeaseRecord = {
      ...{ id: "l", owner: "ada", profile, provider: "q", worker: "w", generation: 1, host: "h", labels: {} },
      ...{ createdAt: 0, expiresAt: 0, ceilingAt: 0, idleMs: 1, lastUsedAt: 0, endedAt: undefined, cleanupAttempts: 0 },
      ...{ lastError: undefined, state: "active", endReason: undefined },
    };
    expect(leaseEntry({ kind: "active", lease, isolated: true })).toMatchObject({ owner: "ada", profile: "python" });
  },
);
