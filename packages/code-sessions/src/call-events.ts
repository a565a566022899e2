import { hash } from "node:crypto";
import type { Outcome } from "./outcome.js";
import type { OpenSessionOptions } from "./session-parts.js";

/** Tells a recorder what becomes of each piece of code. */
export interface CallEvents {
  /** Awaited before the hand-over: a rejection refuses the call. */
  intent(count: number, code: string): Promise<void>;
  outcome(count: number, outcome: Outcome): void;
}

export function createCallEvents(options: Omit<OpenSessionOptions, "worker" | "terms">): CallEvents {
  const { name: session, owner, lease, record, onFault } = options;
  const about = (count: number) => ({ session, owner, lease: lease.id, call: `${lease.id}:${count}` });
  return {
    async intent(count, code) {
      if (record === undefined) return;
      const codeDigest = `sha256:${hash("sha256", code, "hex")}`;
      await record({ kind: "call.intent", ...about(count), codeDigest, codeBytes: Buffer.byteLength(code) });
    },
    outcome(count, outcome) {
      if (record === undefined) return;
      const told = async (): Promise<void> => record({ kind: "call.outcome", ...about(count), outcome });
      told().catch(onFault ?? (() => undefined));
    },
  };
}
