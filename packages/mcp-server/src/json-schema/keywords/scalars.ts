/** Keywords that look at one value (JSON Schema 2020-12, Validation §§ 6.1–6.3). */
import type { JsonValue } from "@berth/jsonrpc-framing";
import { schemaFault } from "../errors.js";
import { isMultiple } from "../multiple-of.js";
import type { Check } from "../node.js";
import { type Place, readCount, readList, readNumber, readText, readTypes } from "../place.js";
import { pointerTo } from "../pointer.js";
import { shown } from "../run.js";
import { countCodePoints, isArray, isEqual } from "../values.js";

export function checkType(place: Place): Check | undefined {
  const types = readTypes(place);
  if (types === undefined) return undefined;
  const message = `must be ${[...types].join(" or ")}`;
  return (instance, run) => {
    const holds = types.has(typeOf(instance)) || (types.has("integer") && Number.isInteger(instance));
    return holds || run.fail("type", () => message);
  };
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return isArray(value) ? "array" : typeof value;
}

export function checkConst(place: Place): Check | undefined {
  const expected = place.read("const");
  if (expected === undefined) return undefined;
  const message = shown(`must be ${JSON.stringify(expected)}`);
  return (instance, run) => isEqual(expected, instance, run) || run.fail("const", () => message);
}

export function checkEnum(place: Place): Check | undefined {
  const values = readList(place, "enum");
  if (values === undefined) return undefined;
  const message = shown(`must be one of ${JSON.stringify(values)}`);
  const isSimple = (value: unknown): boolean => typeof value !== "object" || value === null;
  const simple = new Set<unknown>(values.filter(isSimple));
  const nested: readonly JsonValue[] = values.filter((value) => !isSimple(value));
  return (instance, run) => {
    const holds =
      simple.has(instance) || (!isSimple(instance) && nested.some((value) => isEqual(value, instance, run)));
    return holds || run.fail("enum", () => message);
  };
}

type Comparison = {
  readonly keyword: string;
  readonly holds: (value: number, bound: number) => boolean;
  readonly says: string;
};

const comparisons: readonly Comparison[] = [
  { keyword: "maximum", holds: (value, bound) => value <= bound, says: "at most" },
  { keyword: "exclusiveMaximum", holds: (value, bound) => value < bound, says: "less than" },
  { keyword: "minimum", holds: (value, bound) => value >= bound, says: "at least" },
  { keyword: "exclusiveMinimum", holds: (value, bound) => value > bound, says: "more than" },
];

export function checkRange(place: Place): readonly Check[] {
  return comparisons.flatMap(({ keyword, holds, says }): readonly Check[] => {
    const bound = readNumber(place, keyword);
    if (bound === undefined) return [];
    return [
      (instance, run) =>
        typeof instance !== "number" || holds(instance, bound) || run.fail(keyword, () => `must be ${says} ${bound}`),
    ];
  });
}

/** Steps for one division of decimals with hundreds of digits. */
const divisionSteps = 20;

export function checkMultiple(place: Place): Check | undefined {
  const divisor = readNumber(place, "multipleOf");
  if (divisor === undefined) return undefined;
  if (divisor <= 0)
    throw schemaFault("SCHEMA_INVALID", pointerTo(place.location.pointer, "multipleOf"), "must be more than 0");
  return (instance, run) => {
    if (typeof instance !== "number") return true;
    run.spend(divisionSteps);
    return isMultiple(instance, divisor) || run.fail("multipleOf", () => `must be a multiple of ${divisor}`);
  };
}

export function checkLength(place: Place): Check | undefined {
  const min = readCount(place, "minLength") ?? 0;
  const max = readCount(place, "maxLength") ?? Number.POSITIVE_INFINITY;
  if (min === 0 && max === Number.POSITIVE_INFINITY) return undefined;
  return (instance, run) => {
    if (typeof instance !== "string") return true;
    const length = countCodePoints(instance, run);
    if (length < min) return run.fail("minLength", () => `must have at least ${min} characters`);
    return length <= max || run.fail("maxLength", () => `must have at most ${max} characters`);
  };
}

export function checkPattern(place: Place): Check | undefined {
  const source = readText(place, "pattern");
  if (source === undefined) return undefined;
  const matches = place.pattern(source, "pattern");
  const message = shown(`must match the pattern ${source}`);
  return (instance, run) =>
    typeof instance !== "string" || matches(instance, run) || run.fail("pattern", () => message);
}
