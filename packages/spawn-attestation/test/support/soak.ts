/** A twentieth of a large count, unless BERTH_SOAK is 1. */
export function runs(full: number): number {
  return process.env["BERTH_SOAK"] === "1" ? full : Math.max(1, Math.round(full / 20));
}

/** One in five of many alike cases, unless BERTH_SOAK is 1; their number is printed. */
export function someOf<T>(what: string, cases: readonly T[]): readonly T[] {
  const chosen = process.env["BERTH_SOAK"] === "1" ? cases : cases.filter((_, index) => index % 5 === 1);
  console.info(`${what}: ${chosen.length} of ${cases.length} cases`);
  return chosen;
}
