import { ChainError } from "@berth/audit-chain";
import { SessionError } from "@berth/code-sessions";
import { LeaseError } from "@berth/environment-leases";
import { describe, expect, it } from "vitest";
import { unavailability } from "../../src/http/unavailability.js";

const storeFailed = new LeaseError("STORE_FAILED", "no room");
const notStarted = (cause: unknown) => new SessionError("WORKER_NOT_STARTED", "no worker", { cause });
const notRecorded = new ChainError("AUDIT_UNAVAILABLE", "no entries");
const diskFull = Object.assign(new Error("no space"), { code: "ENOSPC" });

describe("a server that cannot write is told as such", () => {
  it.each([
    { name: "an entry that was refused", fault: notRecorded, code: "AUDIT_UNAVAILABLE" },
    { name: "a lease that cannot be written", fault: storeFailed, code: "STORE_UNAVAILABLE" },
    { name: "a worker whose lease cannot be written", fault: notStarted(storeFailed), code: "STORE_UNAVAILABLE" },
    {
      name: "a worker whose lease cannot be recorded",
      fault: notStarted(notRecorded),
      code: "AUDIT_UNAVAILABLE",
    },
    { name: "a disk without room", fault: diskFull, code: "DISK_FULL" },
    { name: "a worker that finds no room", fault: notStarted(diskFull), code: "DISK_FULL" },
    { name: "a worker that did not start", fault: notStarted(new Error("it ended")), code: undefined },
    { name: "a session that is not there", fault: new SessionError("SESSION_NOT_FOUND", "no"), code: undefined },
  ])("for $name", ({ fault, code }) => {
    expect(unavailability(fault)?.code).toBe(code);
  });
});
