import type { Sessions } from "@berth/code-sessions";
import type { Leases, ProfileStatus, Scheduler } from "@berth/environment-leases";
import type { Admitter } from "@berth/mcp-server/http";
import type { MachineFindings } from "../doctor/machine-report.js";

/** Whoever comes without authentication. */
export const localPrincipal = "local";

/** What the doors lead to. */
export interface DoorsParts {
  readonly version: string;
  readonly sessions: Sessions;
  /** For what operators are told. */
  readonly leases: Pick<Leases, "list"> & { readonly profiles: readonly ProfileStatus[] };
  /** Says who sent a request, on every route but `/health`, the description of the interface and the page. Absent: everybody is `local`. */
  readonly admitter?: Admitter<string> | undefined;
  /** Who may see figures and leases of all owners. Default: `local` without an admitter, nobody with one. */
  readonly isOperator?: ((principal: string) => boolean) | undefined;
  /** Host names that are served beside those of this machine and `coderunner.local`, in lower case, at any port. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** A folder of built files for `/`, read once. Absent, or not there: `/` is not found. */
  readonly pageFolder?: string | undefined;
  /** Absent: nobody may use the page, and its routes are not there. */
  readonly page?: PageParts | undefined;
  readonly limits?: DoorLimits | undefined;
  /** Told what failed and is no client's fault. */
  readonly onFault?: ((fault: unknown) => void) | undefined;
  /** Monotonic clock and timers. Default: the system's. */
  readonly scheduler?: Scheduler | undefined;
}

/** What the page is told beside what every client is. */
export interface PageParts {
  readonly mayUse: (principal: string) => boolean;
  readonly provider: string;
  readonly isolated: boolean;
  /** Where code sees the folder that outlives it. */
  readonly uploads: string | undefined;
  readonly profiles: readonly ProfileStatus[];
  /** What this machine enforces, found by trying. */
  readonly machine: () => Promise<MachineFindings>;
}

/** Bounds of the doors. */
export interface DoorLimits {
  /** Of a JSON body, on either door: 1 KiB to 64 MiB. Default 4 MiB. Above: 413. */
  readonly maxBodyBytes?: number | undefined;
  /** Of a file that is put: 1 KiB to 64 MiB. Default 16 MiB. The session's own limit holds too. */
  readonly maxFileBytes?: number | undefined;
  /** Of all bodies of REST requests that are being read: 64 KiB to 4 GiB. Default 64 MiB. Above: 503. */
  readonly maxBufferedBytes?: number | undefined;
  /** Output of running code that a client has not taken: 1 KiB to 64 MiB. Default 1 MiB. Above: left out and counted; the outcome has it all. */
  readonly maxUnreadBytes?: number | undefined;
  /** A client that asked for progress hears something at least so often: 10 to 3_600_000 ms. Default 5_000. */
  readonly heartbeatMs?: number | undefined;
}

/** DoorLimits with defaults filled in. */
export type DoorTerms = { readonly [Name in keyof DoorLimits]-?: number };

const ranges: Readonly<
  Record<keyof DoorLimits, { readonly min: number; readonly max: number; readonly preset: number }>
> = {
  maxBodyBytes: { min: 1_024, max: 67_108_864, preset: 4_194_304 },
  maxFileBytes: { min: 1_024, max: 67_108_864, preset: 16_777_216 },
  maxBufferedBytes: { min: 65_536, max: 4_294_967_296, preset: 67_108_864 },
  maxUnreadBytes: { min: 1_024, max: 67_108_864, preset: 1_048_576 },
  heartbeatMs: { min: 10, max: 3_600_000, preset: 5_000 },
};

/** @throws {RangeError} for a limit out of its range. */
export function readDoorTerms(limits: DoorLimits = {}): DoorTerms {
  const of = (name: keyof DoorLimits): number => {
    const { min, max, preset } = ranges[name];
    const value = limits[name] ?? preset;
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new RangeError(`limits.${name} is ${value}; it has to be a whole number from ${min} to ${max}`);
  };
  return {
    maxBodyBytes: of("maxBodyBytes"),
    maxFileBytes: of("maxFileBytes"),
    maxBufferedBytes: of("maxBufferedBytes"),
    maxUnreadBytes: of("maxUnreadBytes"),
    heartbeatMs: of("heartbeatMs"),
  };
}
