import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EnvironmentEnd, GuestProcess, Lease, LeaseEndReason, LeaseRecord } from "@berth/environment-leases";
import { deferred } from "../fakes/deferred.js";
import { openLocalGuest } from "./local-guest.js";

export interface LocalLease {
  readonly lease: Lease;
  readonly guests: readonly GuestProcess[];
  readonly released: readonly (LeaseEndReason | undefined)[];
  touches(): number;
  /** As the leases would, when they or the environment end it. */
  end(reason: LeaseEndReason, how?: EnvironmentEnd): Promise<void>;
}

/** A lease on a folder of this machine: what a session asks of one, with real processes and without leases. */
export async function createLocalLease(interpreter = "/usr/bin/python3"): Promise<LocalLease> {
  const workspace = await mkdtemp(join(tmpdir(), "berth-session-"));
  const guests: GuestProcess[] = [];
  const released: (LeaseEndReason | undefined)[] = [];
  const ended = deferred<{ readonly reason: LeaseEndReason; readonly end: EnvironmentEnd | undefined }>();
  let touches = 0;
  const record: LeaseRecord = {
    ...{ id: "0".repeat(32), owner: "alice", profile: "local", provider: "local", worker: `mcp-${"0".repeat(24)}` },
    ...{ state: "active", generation: 2, createdAt: 0, expiresAt: 1e12, ceilingAt: 1e12, idleMs: undefined },
    ...{ lastUsedAt: 0, host: "here", cleanupAttempts: 0, endReason: undefined, endedAt: undefined },
    ...{ lastError: undefined, labels: {} },
  };
  const end = async (reason: LeaseEndReason, how?: EnvironmentEnd): Promise<void> => {
    ended.resolve({ reason, end: how });
    for (const guest of guests) await guest.close();
    await rm(workspace, { recursive: true, force: true, maxRetries: 5 });
  };
  const release = async (reason?: LeaseEndReason): Promise<void> => {
    released.push(reason);
    await end(reason ?? "released");
  };
  const unused = (): never => {
    throw new Error("not here");
  };
  const lease: Lease = {
    ...{
      id: record.id,
      owner: "alice",
      profile: "local",
      record,
      enforced: [],
      isolated: false,
      workspace,
      interpreter,
    },
    ...{ run: unused, openTerminal: unused, installPackages: unused, requestResource: unused },
    ended: ended.promise,
    touch() {
      touches += 1;
    },
    async open(argv, options) {
      const guest = openLocalGuest(argv, { cwd: options?.cwd ?? workspace });
      guests.push(guest);
      return guest;
    },
    renew: async () => record,
    usage: () => ({ memoryBytes: undefined, processes: undefined }),
    release,
    [Symbol.asyncDispose]: () => release(),
  };
  return { lease, guests, released, touches: () => touches, end };
}
