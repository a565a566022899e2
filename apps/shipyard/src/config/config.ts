import type { SessionLimits } from "@berth/code-sessions";
import type { EnvironmentProfile, GuestLimits, LeaseLimits } from "@berth/environment-leases";
import { readText } from "@berth/state-folder";
import { ofState, ShipyardError } from "../errors.js";
import type { DoorLimits } from "../http/parts.js";

/** Largest `shipyard.yaml`, in bytes. */
const maxConfigBytes = 1024 * 1024;

/** `shipyard.yaml` with its defaults filled in; the only form that the rest of the program sees. */
export interface ShipyardConfig {
  /** `unconfined` isolates nothing and is never chosen by itself. */
  readonly provider: "bubblewrap" | "unconfined";
  /** The one of `profiles` that sessions run in. */
  readonly profile: string;
  readonly profiles: Readonly<Record<string, EnvironmentProfile>>;
  readonly leases: LeaseLimits;
  readonly environments: GuestLimits;
  readonly sessions: SessionLimits & { readonly ttlMs?: number | undefined; readonly idleMs?: number | undefined };
  readonly uploads: {
    /** What one owner's folder may hold, in bytes. */
    readonly maxBytes: number;
  };
  readonly http: DoorLimits & { readonly maxConnections: number };
  /** Absent: no authentication, which a loopback address allows. */
  readonly auth?: AuthConfig | undefined;
  /** Who may use the page at `/`. Absent: `local` without authentication, else the operators. */
  readonly page: { readonly principals?: readonly string[] | undefined };
  /** Host names that clients may use beside those of this machine. */
  readonly allowedHosts: readonly string[];
  readonly audit: { readonly durability: "each" | "batch" | "none" };
  readonly log: { readonly level: "debug" | "info" | "warn" | "error" };
  /** What becomes of living workers of an earlier server. */
  readonly recovery: "destroy" | "attach";
  /** How long the end of the server may take, in milliseconds. */
  readonly shutdownMs: number;
}

/** Who may come. */
export interface AuthConfig {
  /** A file of tokens: see `berth-shipyard token`. */
  readonly tokenFile: string;
  /** Names that see everybody's leases and figures. */
  readonly operators: readonly string[];
}

/**
 * Reads `shipyard.yaml`; without a path, the defaults. Nothing is looked for anywhere else.
 * @throws {ShipyardError} `CONFIG_INVALID` with every problem and its line.
 */
export async function loadConfig(path: string | undefined): Promise<ShipyardConfig> {
  const text = path === undefined ? "" : await readConfigFile(path);
  // Parser and schema library are not needed to print a version or a list of leases.
  const { describeProblems, readConfig } = await import("./config-read.js");
  const reading = readConfig(text);
  if (reading.ok) return reading.value;
  const { message, lines } = describeProblems("the configuration", path ?? "", reading.problems);
  throw new ShipyardError("CONFIG_INVALID", message, { lines });
}

function readConfigFile(path: string): Promise<string> {
  return readText(path, maxConfigBytes)
    .catch(ofState)
    .catch((cause: unknown) => {
      if (cause instanceof ShipyardError) throw cause;
      throw new ShipyardError("CONFIG_INVALID", `the configuration ${path} cannot be read`, { cause });
    });
}
