import { z } from "zod";
import type { SessionObject } from "../session-object.js";
import type {
  ExecuteBody,
  FileBody,
  HealthBody,
  LegacyExecute,
  LegacyId,
  LegacyOutcome,
  LegacySessions,
  ListedLeaseBody,
  MachineBody,
  OutcomeBody,
  PageUserBody,
  ProfileBody,
  RefusalBody,
  RenewBody,
  StartBody,
  StatusBody,
  StreamEventBody,
  VariableBody,
} from "./wire.js";

/** A schema of one body: it reads what a client sends, and describes what a client gets. */
type Schema<T> = z.ZodType<T>;

/** Every body of the REST interface, once: requests are read with these, the description is made of them, and tests hold answers against it. */

const ms = z.int().min(1);
const id = z
  .string()
  .meta({ description: "1 to 64 letters, digits, dots, dashes, underscores, first a letter or digit" });

const end = z.object({
  reason: z.enum([
    "stopped",
    "memory",
    "disk",
    "output",
    "signal",
    "exit",
    "timeout",
    "protocol",
    "expired",
    "lost",
    "shutdown",
  ]),
  detail: z.string(),
  at: z.iso.datetime(),
});
const restriction = z
  .string()
  .optional()
  .meta({ description: "Why less can be done in it than usual, and what helps" });
const text = z.object({ text: z.string(), bytes: z.int(), truncated: z.boolean() });
const display = z.object({
  kind: z.enum(["display", "result"]),
  data: z.record(z.string(), z.string()).meta({ description: "By media type; base64 for binary ones" }),
});

// The original's interface.
export const legacyExecute: Schema<LegacyExecute> = z.looseObject({
  code: z.unknown().optional(),
  command: z.unknown().optional(),
  session_id: z.string().nullable().optional(),
});
export const legacyOutcome: Schema<LegacyOutcome> = z.object({
  stdout: z.string(),
  stderr: z.string(),
  execution_time: z.number().meta({ description: "Seconds" }),
  cpu_time: z.number().meta({ description: "A copy of execution_time, as in the original" }),
});
export const legacySession: Schema<SessionObject> = z.object({
  session_id: id,
  status: z.enum(["active", "stopped"]),
  created_at: z.iso.datetime(),
});
export const legacySessions: Schema<LegacySessions> = z.object({ sessions: z.array(legacySession) });
export const legacyId: Schema<LegacyId> = z.looseObject({ session_id: z.string().nullable().optional() });

export const health: Schema<HealthBody> = z.object({ status: z.enum(["ok", "unavailable"]) });
export const refusal: Schema<RefusalBody> = z.object({
  error: z.string().meta({ description: "For a person" }),
  code: z.string().optional().meta({ description: "For a program; stable" }),
  cure: z.string().optional(),
  end: end.optional().meta({ description: "How the session ended" }),
});

// Newer routes.
export const execute: Schema<ExecuteBody> = z.strictObject({
  code: z.string(),
  timeout_ms: ms.optional(),
  colours: z.boolean().optional().meta({ description: "Keep terminal colours in tracebacks" }),
});
export const outcome: Schema<OutcomeBody> = z.object({
  status: z.enum(["ok", "error", "interrupted", "timeout", "dead"]),
  stdout: text,
  stderr: text,
  output: text.meta({ description: "Both as they were interleaved" }),
  result: z.string().optional(),
  displays: z.array(display),
  displays_dropped: z.int(),
  fault: z.object({ name: z.string(), message: z.string(), traceback: z.string() }).optional(),
  reason: z.string().optional(),
  duration_ms: z.number(),
  cpu_ms: z.number().optional(),
  count: z.int(),
  spill: z.string().optional().meta({ description: "The file that has the whole output" }),
  restriction,
});
export const streamEvent: Schema<StreamEventBody> = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("stdout"), text: z.string() }),
  z.object({ kind: z.literal("stderr"), text: z.string() }),
  z.object({ kind: z.literal("display"), display }),
  z.object({ kind: z.literal("outcome"), outcome, events_dropped: z.int() }),
  z.object({ kind: z.literal("refused"), refusal }),
]);
const lease = z.object({
  id: z.string(),
  state: z.enum(["reserved", "active", "releasing", "released", "lost"]),
  profile: z.string(),
  provider: z.string(),
  generation: z.int().meta({ description: "Fencing token: grows with every write" }),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  ceiling_at: z.iso.datetime(),
  idle_ms: z.int().optional(),
  last_used_at: z.iso.datetime(),
  end_reason: z.string().optional(),
});
export const status: Schema<StatusBody> = z.object({
  session_id: id,
  state: z.enum(["active", "dead", "stopped"]),
  busy: z.boolean(),
  queued: z.int(),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime(),
  executions: z.int(),
  isolated: z.boolean(),
  enforced: z.array(z.object({ limit: z.string(), value: z.number(), by: z.string() })),
  restriction,
  lease,
  end: end.optional(),
});
export const start: Schema<StartBody> = z.strictObject({
  session_id: z.string().nullable().optional(),
  ttl_ms: ms.optional().meta({ description: "Hard lifetime unless renewed" }),
  idle_ms: ms.optional().meta({ description: "Ends after so long without use" }),
});
export const renew: Schema<RenewBody> = z.strictObject({
  ttl_ms: ms,
  generation: z
    .int()
    .min(1)
    .optional()
    .meta({ description: "Fencing token: refused when it is no longer the lease's" }),
});
export const interrupted: Schema<{ readonly interrupted: boolean }> = z.object({
  interrupted: z.boolean().meta({ description: "False when nothing ran" }),
});
export const variables: Schema<{ readonly variables: readonly VariableBody[] }> = z.object({
  variables: z.array(
    z.object({ name: z.string(), type: z.string(), preview: z.string(), size_bytes: z.number().optional() }),
  ),
});
export const file: Schema<FileBody> = z.object({
  path: z.string(),
  kind: z.enum(["file", "folder", "link", "other"]),
  bytes: z.number(),
  modified_at: z.iso.datetime(),
});
export const files: Schema<{ readonly files: readonly FileBody[] }> = z.object({ files: z.array(file) });
export const statuses: Schema<{ readonly sessions: readonly StatusBody[] }> = z.object({ sessions: z.array(status) });
export const leases: Schema<{ readonly leases: readonly ListedLeaseBody[] }> = z.object({
  leases: z.array(lease.extend({ owner: z.string().optional(), session: z.string().optional(), restriction })),
});
const profile = z.object({
  profile: z.string(),
  provider: z.string(),
  isolated: z.boolean(),
  refusal: z.object({ message: z.string(), cure: z.string().optional() }).optional(),
});
export const profiles: Schema<{ readonly profiles: readonly ProfileBody[] }> = z.object({ profiles: z.array(profile) });

// The page's own.
export const pageUser: Schema<PageUserBody> = z.object({
  principal: z.string(),
  operator: z.boolean(),
  version: z.string(),
  provider: z.string(),
  isolated: z.boolean(),
  uploads: z.string().optional().meta({ description: "Where code sees the folder that outlives it" }),
  profiles: z.array(profile),
});
export const machine: Schema<MachineBody> = z.object({
  checked_at: z.iso.datetime(),
  checks: z.array(
    z.object({
      name: z.string(),
      status: z.enum(["ok", "warn", "fail"]),
      message: z.string(),
      advice: z.string().optional(),
    }),
  ),
});
