/** The name that was meant by one that is misspelled or cut short; undefined when none is near. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  const wanted = given.toLowerCase();
  let nearest: string | undefined;
  let least = Math.max(1, Math.floor(given.length / 3)) + 1;
  for (const name of known) {
    const distance = distanceOf(wanted, name.toLowerCase());
    if (distance < least) [nearest, least] = [name, distance];
  }
  return nearest;
}

/** Characters to add, leave out or replace; what is only cut short is one away. */
function distanceOf(a: string, b: string): number {
  if (a.length >= 3 && (b.startsWith(a) || a.startsWith(b))) return a === b ? 0 : 1;
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row++) {
    const below = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (above[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      below.push(Math.min(replaced, (above[column] ?? 0) + 1, (below[column - 1] ?? 0) + 1));
    }
    above = below;
  }
  return above[b.length] ?? 0;
}
