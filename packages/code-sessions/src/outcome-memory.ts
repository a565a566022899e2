import { createHash } from "node:crypto";
import { SessionError } from "./errors.js";
import type { Outcome } from "./outcome.js";

/** One call that a key stands for. */
interface Entry {
  /** The code itself is not kept. */
  readonly digest: string;
  readonly outcome: Promise<Outcome>;
  /** Undefined while it runs: then it is not forgotten. */
  bytes: number | undefined;
}

/** First outcomes by idempotency key, so that the same call does not run twice. One for each owner or session. */
export interface OutcomeMemory {
  /**
   * The outcome of the first call with this key, also while it runs; else that of `run`. A `run` that rejects was never
   * handed over: it is forgotten.
   * @throws {SessionError} `IDEMPOTENCY_CONFLICT` for other code.
   */
  once(key: string, code: string, run: () => Promise<Outcome>): Promise<Outcome>;
  /** Of all outcomes kept, about. */
  readonly bytes: number;
  readonly size: number;
  /** Forgets the oldest outcome. False when there is none. */
  forgetOldest(): boolean;
}

export interface MemoryBounds {
  readonly maxOutcomes: number;
}

export function createOutcomeMemory({ maxOutcomes }: MemoryBounds): OutcomeMemory {
  const entries = new Map<string, Entry>();
  let bytes = 0;
  const forgetOldest = (): boolean => {
    for (const [key, entry] of entries) {
      if (entry.bytes === undefined) continue;
      bytes -= entry.bytes;
      entries.delete(key);
      return true;
    }
    return false;
  };
  const remember = (key: string, digest: string, outcome: Promise<Outcome>): void => {
    const entry: Entry = { digest, outcome, bytes: undefined };
    entries.set(key, entry);
    const ended = (known: Outcome): void => {
      entry.bytes = sizeOf(known);
      bytes += entry.bytes;
      while (entries.size > maxOutcomes && forgetOldest());
    };
    outcome.then(ended, () => entries.delete(key));
  };
  return {
    once(key, code, run) {
      const digest = createHash("sha256").update(code).digest("base64");
      const known = entries.get(key);
      if (known !== undefined && known.digest !== digest) {
        throw new SessionError("IDEMPOTENCY_CONFLICT", "this idempotency key stands for other code");
      }
      if (known !== undefined) return known.outcome;
      const outcome = run();
      remember(key, digest, outcome);
      return outcome;
    },
    get bytes() {
      return bytes;
    },
    get size() {
      return entries.size;
    },
    forgetOldest,
  };
}

/** Texts are counted by length: what matters is that a flood of large ones is bounded. */
function sizeOf({ stdout, stderr, output, result, displays, fault }: Outcome): number {
  let size = 512 + stdout.text.length + stderr.text.length + output.text.length + (result?.length ?? 0);
  size += (fault?.message.length ?? 0) + (fault?.traceback.length ?? 0);
  for (const { data } of displays) for (const [type, text] of Object.entries(data)) size += type.length + text.length;
  return size;
}
