/** Of each kind so many are let through one by one. */
const singly = 16;

/**
 * Counts by kind and says which of them to speak of: the first sixteen, then those whose number is a power of two. So a child that errs on
 * every line fills no log, and the log still says how often.
 */
export function createThrottle(): (kind: string) => { readonly count: number; readonly speak: boolean } {
  const counts = new Map<string, number>();
  return (kind) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return { count, speak: count <= singly || Number.isInteger(Math.log2(count)) };
  };
}
