/** Whether one code point is what a part of a pattern stands for. */
export type CharTest = (codePoint: number) => boolean;

const asciiCount = 128;
const yes = 1;
const no = 2;

/**
 * The test of one character, escape or class of a pattern in Unicode mode. The engine of the platform is asked about
 * single code points only, so its time is bounded by the length of the class; answers for ASCII are kept.
 */
export function createCharTest(source: string): CharTest {
  const literal = literalOf(source);
  if (literal !== undefined) return (codePoint) => codePoint === literal;
  const expression = new RegExp(`^(?:${source})$`, "u");
  const ascii = new Uint8Array(asciiCount);
  const ask = (codePoint: number): boolean => expression.test(String.fromCodePoint(codePoint));
  return (codePoint) => {
    if (codePoint >= asciiCount) return ask(codePoint);
    const known = ascii[codePoint];
    if (known === yes || known === no) return known === yes;
    const holds = ask(codePoint);
    ascii[codePoint] = holds ? yes : no;
    return holds;
  };
}

/**
 * What a test takes from the budget of states: the platform needs up to a millisecond to make ready for a class with a
 * Unicode property, and memory for each class.
 */
export function testCost(source: string): number {
  if (literalOf(source) !== undefined) return 0;
  const properties = source.split(/\\p/i).length - 1;
  return 1 + (source.length >> 3) + properties * 50;
}

function literalOf(source: string): number | undefined {
  if (source === "." || source.startsWith("\\") || source.startsWith("[")) return undefined;
  return source.codePointAt(0);
}

/** `\w` in Unicode mode without the flag `i`: the word characters of `\b`. */
export function isWordCharacter(codePoint: number | undefined): boolean {
  if (codePoint === undefined) return false;
  const isDigit = codePoint >= 48 && codePoint <= 57;
  const isLetter = (codePoint >= 65 && codePoint <= 90) || (codePoint >= 97 && codePoint <= 122);
  return isDigit || isLetter || codePoint === 95;
}
