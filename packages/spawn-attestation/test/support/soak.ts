/** A twentieth of a large count, unless BERTH_SOAK is 1. */
export function runs(full: number): number {
  return process.env["BERTH_SOAK"] === "1" ? full : Math.max(1, Math.round(full / 20));
}
