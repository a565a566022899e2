import type { SessionLimits } from "@berth/code-sessions";
import { checkForm, type DocumentCheck } from "@berth/command-line/config";
import type {
  EnvironmentLimits,
  EnvironmentProfile,
  GuestLimits,
  LeaseLimits,
  ResourcePolicy,
} from "@berth/environment-leases";
import * as z from "zod";
import type { DoorLimits } from "../http/parts.js";
import type { ShipyardConfig } from "./config.js";

/** The file as it is written: the provider of all its profiles stands at the top. */
export type ShipyardFile = Omit<ShipyardConfig, "profiles"> & {
  readonly profiles: Readonly<Record<string, Omit<EnvironmentProfile, "provider">>>;
};

// Ranges are those of the packages, which check them again at the start: here they are found with a line number.

const day = 86_400_000;
const kib = 1_024;
const mib = kib * kib;
const whole = (min: number, max: number): z.ZodOptional<z.ZodInt> => z.int().min(min).max(max).optional();
const shortName = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, "needs 1 to 64 letters, digits, dots, dashes, underscores");
const absolutePath = z.string().regex(/^\/[^\0]*$/, "needs an absolute path");

/** A member that a package gains and this file lacks does not compile. */
type Shape<Keys extends string> = Readonly<Record<Keys, z.ZodType>>;

const environmentLimits = z.strictObject({
  memoryBytes: whole(1, Number.MAX_SAFE_INTEGER),
  processes: whole(1, 4_194_304),
  cpus: z.number().positive().optional(),
  fileBytes: whole(1, Number.MAX_SAFE_INTEGER),
  openFiles: whole(1, 1_048_576),
  workspaceBytes: whole(mib, 64 * kib * mib),
  tmpBytes: whole(64 * kib, 64 * kib * mib),
} satisfies Shape<keyof EnvironmentLimits>);

/** Of commands, packages and ports of a lease, to which no route leads: a key for one would promise what nobody can use. */
type Unserved = "packages" | "exposeResources" | "exposedPorts" | "commandTimeoutMs";

const policy = z.strictObject({
  network: z.enum(["none", "internet", "allowlist"]).optional(),
  allowedHosts: z.array(z.string()).optional(),
  elevation: z.boolean().optional(),
  limits: environmentLimits.optional(),
} satisfies Shape<Exclude<keyof ResourcePolicy, Unserved>>);

const profile = z.strictObject({
  template: z.string().default("python3"),
  platform: z.string().optional(),
  policy: policy.optional(),
  mounts: z
    .array(
      z.strictObject({
        source: absolutePath,
        target: absolutePath,
        writable: z.boolean().optional(),
        maxBytes: whole(mib, mib * mib),
      }),
    )
    .optional(),
  env: z.record(z.string(), z.string()).optional(),
});

const leases = z.strictObject({
  maxPerOwner: whole(1, 1_024),
  maxTotal: whole(1, 4_096),
  defaultTtlMs: whole(1_000, day),
  maxLifetimeMs: whole(1_000, 30 * day),
  maxQueued: whole(1, 1_024),
  maxOpened: whole(1, 1_024),
  sweepMs: whole(100, 3_600_000),
  graceMs: whole(0, 600_000),
  createMs: whole(100, 600_000),
  destroyMs: whole(100, 600_000),
  retentionMs: whole(0, 365 * day),
  closeMs: whole(0, 600_000),
} satisfies Shape<keyof LeaseLimits>);

const sessions = z.strictObject({
  maxSessions: whole(1, 1_024),
  maxTotalSessions: whole(1, 4_096),
  maxSessionless: whole(1, 256),
  maxSessionlessQueued: whole(0, 10_000),
  warmWorkers: whole(0, 64),
  maxQueued: whole(1, 1_024),
  maxCodeBytes: whole(kib, 16 * mib),
  maxOutputBytes: whole(kib, 64 * mib),
  maxSpillBytes: whole(0, kib * mib),
  maxDisplayBytes: whole(0, 64 * mib),
  maxFileBytes: whole(kib, 64 * mib),
  defaultCallMs: whole(1, day),
  maxCallMs: whole(1, day),
  interruptMs: whole(0, 60_000),
  maxOutcomes: whole(1, 10_000),
  maxOutcomeBytes: whole(kib, kib * mib),
  endedMs: whole(0, day),
  maxEnded: whole(0, 65_536),
  startMs: whole(1, 600_000),
  maxWarmProfiles: whole(1, 64),
  warmProfileMs: whole(1_000, day),
  closeMs: whole(0, 600_000),
  ttlMs: whole(1_000, day),
  idleMs: whole(1_000, day),
} satisfies Shape<keyof SessionLimits | "ttlMs" | "idleMs">);

const http = z.strictObject({
  maxBodyBytes: whole(kib, 64 * mib),
  maxFileBytes: whole(kib, 64 * mib),
  maxBufferedBytes: whole(64 * kib, 4 * kib * mib),
  maxUnreadBytes: whole(kib, 64 * mib),
  heartbeatMs: whole(10, 3_600_000),
  maxConnections: z.int().min(1).max(65_536).default(1_024),
} satisfies Shape<keyof DoorLimits | "maxConnections">);

const environments = z.strictObject({
  maxOutputBytes: whole(0, 64 * mib),
  maxOpen: whole(1, 4_096),
  maxStarts: whole(1, 1_024),
  startTimeoutMs: whole(100, 600_000),
  maxPendingStreams: whole(1, 1_024),
  streamTimeoutMs: whole(10, 60_000),
  maxRefusedStreams: whole(1, 1_000_000),
  drainMs: whole(0, 60_000),
} satisfies Shape<keyof GuestLimits>);

const shipyardFile = z.strictObject({
  provider: z.enum(["bubblewrap", "unconfined"]).default("bubblewrap"),
  profile: shortName.default("python"),
  profiles: z.record(shortName, profile).default({}),
  leases: leases.prefault({}),
  environments: environments.prefault({}),
  sessions: sessions.prefault({}),
  uploads: z
    .strictObject({
      maxBytes: z
        .int()
        .min(mib)
        .max(mib * mib)
        .default(kib * mib),
    })
    .prefault({}),
  http: http.prefault({}),
  auth: z
    .strictObject({ tokenFile: absolutePath, operators: z.array(z.string().min(1).max(200)).default([]) })
    .optional(),
  page: z.strictObject({ principals: z.array(z.string().min(1).max(200)).max(1_024).optional() }).prefault({}),
  allowedHosts: z.array(z.string().min(1).max(253)).max(256).default([]),
  audit: z.strictObject({ durability: z.enum(["each", "batch", "none"]).default("batch") }).prefault({}),
  log: z.strictObject({ level: z.enum(["debug", "info", "warn", "error"]).default("info") }).prefault({}),
  recovery: z.enum(["destroy", "attach"]).default("destroy"),
  shutdownMs: z.int().min(0).max(600_000).default(30_000),
}) satisfies z.ZodType<ShipyardFile>;

/** Checks a document by its form alone. */
export function checkFile(document: unknown): DocumentCheck<ShipyardFile> {
  return checkForm(shipyardFile, document);
}
