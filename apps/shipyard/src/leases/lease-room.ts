import type { LeaseLimits } from "@berth/environment-leases";
import type { ShipyardConfig } from "../config/config.js";

/** As the sessions have it where nothing is configured. */
const presets = {
  maxSessions: 5,
  maxTotalSessions: 64,
  maxSessionless: 4,
  warmWorkers: 2,
  maxWarmProfiles: 4,
} as const;

/**
 * Limits of leases that leave room for what the sessions allow: else leases would refuse first, and a session-less call
 * could starve beside named sessions, and one owner's be refused for another's. Twice, since a session that died makes
 * room for the next before its lease is gone.
 */
export function leaseRoom({ leases, sessions }: Pick<ShipyardConfig, "leases" | "sessions">): LeaseLimits {
  const of = (name: keyof typeof presets): number => sessions[name] ?? presets[name];
  const owned = 2 * (of("maxSessions") + of("maxSessionless"));
  const all = 2 * (Math.max(of("maxTotalSessions"), of("maxSessions")) + of("maxSessionless"));
  const warm = (of("warmWorkers") + 1) * of("maxWarmProfiles");
  return {
    ...leases,
    maxPerOwner: leases.maxPerOwner ?? Math.min(owned, 1_024),
    maxTotal: leases.maxTotal ?? Math.min(Math.max(64, all + warm), 4_096),
  };
}
