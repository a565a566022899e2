/** A revision that opens with `initialize`. */
export type LegacyRevision = "2024-11-05" | "2025-03-26" | "2025-06-18" | "2025-11-25";
/** A revision without a handshake: each request names its revision in `_meta`. */
export type ModernRevision = "2026-07-28";
/** A protocol revision that this package knows. */
export type ProtocolRevision = LegacyRevision | ModernRevision;

/** Revisions that open with `initialize`, newest first. */
export const legacyRevisions: readonly [LegacyRevision, ...LegacyRevision[]] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
];
/** Revisions without a handshake, newest first. */
export const modernRevisions: readonly ModernRevision[] = ["2026-07-28"];

/** Whether `value` names a revision that opens with `initialize`. */
export function isLegacyRevision(value: unknown): value is LegacyRevision {
  return legacyRevisions.some((revision) => revision === value);
}

/** Whether `value` names a revision without a handshake. */
export function isModernRevision(value: unknown): value is ModernRevision {
  return modernRevisions.some((revision) => revision === value);
}

/**
 * The revision that `initialize` is answered with (MCP 2025-11-25, Lifecycle § Version negotiation): the one asked for when it is served,
 * else the newest that is. A modern revision is never reached this way.
 *
 * @param requested `params.protocolVersion` as it came; anything that is not a served revision counts as unknown.
 * @param served Newest first, at least one; default all legacy revisions.
 */
export function negotiateRevision(
  requested: unknown,
  served: readonly [LegacyRevision, ...LegacyRevision[]] = legacyRevisions,
): LegacyRevision {
  return served.find((revision) => revision === requested) ?? served[0];
}
