/** A finite number as `digits` × 10^`exponent`, as its shortest decimal form says it. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/**
 * Whether a number is a multiple of another, in decimal: 0.0075 is one of 0.0001, though not as binary fractions.
 * Exponents of numbers are within ±324, so the integers stay under 700 digits.
 */
export function isMultiple(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  if (!Number.isFinite(value)) return false;
  const a = decimalOf(value);
  const b = decimalOf(divisor);
  const shift = a.exponent - b.exponent;
  if (shift >= 0) return (a.digits * 10n ** BigInt(shift)) % b.digits === 0n;
  return a.digits % (b.digits * 10n ** BigInt(-shift)) === 0n;
}

function decimalOf(value: number): Decimal {
  const [mantissa = "0", exponent = "0"] = Math.abs(value).toString().split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}
