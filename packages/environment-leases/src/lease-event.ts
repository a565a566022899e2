import type { HeldLimit } from "./environment.js";
import type { LeaseRecord } from "./lease.js";

/** What was asked of an environment. */
export type LeaseOperation = "run" | "open" | "terminal" | "install" | "request";

/** Something that happened to a lease, for an audit record. Holds no payload: sizes and digests only. */
export type LeaseEvent =
  | {
      readonly kind: "reserved" | "active" | "renewed" | "releasing" | "released" | "lost";
      readonly lease: LeaseRecord;
      readonly enforced?: readonly HeldLimit[] | undefined;
      /** With `active`: why the environment can do less than its profile says. */
      readonly restriction?: string | undefined;
      readonly isolated: boolean;
    }
  | {
      readonly kind: "command.intent";
      readonly lease: LeaseRecord;
      /** 16 hexadecimal digits; its outcome has the same. */
      readonly command: string;
      readonly operation: LeaseOperation;
      /** SHA-256 in hexadecimal of the JSON text of the argument list. */
      readonly argvDigest: string;
      readonly argvCount: number;
    }
  | {
      readonly kind: "command.outcome";
      readonly lease: LeaseRecord;
      readonly command: string;
      readonly operation: LeaseOperation;
      /** `exited`, `signalled`, `ended` (what was opened is no more), `aborted`, `discarded` (the lease ended meanwhile), or the code of an error. */
      readonly outcome: string;
      readonly exitCode: number | undefined;
      readonly durationMs: number;
      readonly stdoutBytes: number;
      readonly stderrBytes: number;
    }
  | { readonly kind: "orphan"; readonly provider: string; readonly worker: string };
