import type { SessionEnd } from "@berth/code-sessions";
import type { LeaseState } from "@berth/environment-leases";
import type { SessionObject } from "../session-object.js";

/** Bodies of the REST interface. Times are UTC as ISO 8601, lengths of time milliseconds, unless they say otherwise. */

/** Of the original: seconds. */
export interface LegacyOutcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly execution_time: number;
  readonly cpu_time: number;
}

export interface LegacyExecute {
  readonly code?: unknown;
  readonly command?: unknown;
  readonly session_id?: string | null | undefined;
}

export interface LegacyId {
  readonly session_id?: string | null | undefined;
}

export interface LegacySessions {
  readonly sessions: readonly SessionObject[];
}

export interface HealthBody {
  readonly status: "ok" | "unavailable";
}

export interface EndBody {
  readonly reason: SessionEnd["reason"];
  readonly detail: string;
  readonly at: string;
}

export interface RefusalBody {
  readonly error: string;
  readonly code?: string | undefined;
  readonly cure?: string | undefined;
  readonly end?: EndBody | undefined;
}

export interface ExecuteBody {
  readonly code: string;
  readonly timeout_ms?: number | undefined;
  readonly colours?: boolean | undefined;
}

export interface TextBody {
  readonly text: string;
  readonly bytes: number;
  readonly truncated: boolean;
}

export interface DisplayBody {
  readonly kind: "display" | "result";
  readonly data: Readonly<Record<string, string>>;
}

export interface OutcomeBody {
  readonly status: "ok" | "error" | "interrupted" | "timeout" | "dead";
  readonly stdout: TextBody;
  readonly stderr: TextBody;
  readonly output: TextBody;
  readonly result?: string | undefined;
  readonly displays: readonly DisplayBody[];
  readonly displays_dropped: number;
  readonly fault?: { readonly name: string; readonly message: string; readonly traceback: string } | undefined;
  readonly reason?: string | undefined;
  readonly duration_ms: number;
  readonly cpu_ms?: number | undefined;
  readonly count: number;
  readonly spill?: string | undefined;
  readonly restriction?: string | undefined;
}

export type StreamEventBody =
  | { readonly kind: "stdout" | "stderr"; readonly text: string }
  | { readonly kind: "display"; readonly display: DisplayBody }
  | { readonly kind: "outcome"; readonly outcome: OutcomeBody; readonly events_dropped: number }
  | { readonly kind: "refused"; readonly refusal: RefusalBody };

export interface LeaseBody {
  readonly id: string;
  readonly state: LeaseState;
  readonly profile: string;
  readonly provider: string;
  readonly generation: number;
  readonly created_at: string;
  readonly expires_at: string;
  readonly ceiling_at: string;
  readonly idle_ms?: number | undefined;
  readonly last_used_at: string;
  readonly end_reason?: string | undefined;
}

export interface ListedLeaseBody extends LeaseBody {
  readonly owner?: string | undefined;
  readonly session?: string | undefined;
  readonly restriction?: string | undefined;
}

export interface StatusBody {
  readonly session_id: string;
  readonly state: "active" | "dead" | "stopped";
  readonly busy: boolean;
  readonly queued: number;
  readonly created_at: string;
  readonly last_used_at: string;
  readonly executions: number;
  readonly isolated: boolean;
  readonly enforced: readonly { readonly limit: string; readonly value: number; readonly by: string }[];
  readonly restriction?: string | undefined;
  readonly lease: LeaseBody;
  readonly end?: EndBody | undefined;
}

export interface StartBody {
  readonly session_id?: string | null | undefined;
  readonly ttl_ms?: number | undefined;
  readonly idle_ms?: number | undefined;
}

export interface RenewBody {
  readonly ttl_ms: number;
  readonly generation?: number | undefined;
}

export interface VariableBody {
  readonly name: string;
  readonly type: string;
  readonly preview: string;
  readonly size_bytes?: number | undefined;
}

export interface FileBody {
  readonly path: string;
  readonly kind: "file" | "folder" | "link" | "other";
  readonly bytes: number;
  readonly modified_at: string;
}

export interface ProfileBody {
  readonly profile: string;
  readonly provider: string;
  readonly isolated: boolean;
  readonly refusal?: { readonly message: string; readonly cure?: string | undefined } | undefined;
}

/** Who uses the page. */
export interface PageUserBody {
  readonly principal: string;
  readonly operator: boolean;
  readonly version: string;
  readonly provider: string;
  readonly isolated: boolean;
  readonly uploads?: string | undefined;
  readonly profiles: readonly ProfileBody[];
}

export interface CheckBody {
  readonly name: string;
  readonly status: "ok" | "warn" | "fail";
  readonly message: string;
  readonly advice?: string | undefined;
}

export interface MachineBody {
  readonly checked_at: string;
  readonly checks: readonly CheckBody[];
}
