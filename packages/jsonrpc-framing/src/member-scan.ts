import type { MemberSpan, Span, SplitLimits } from "./span.js";

/** What a span's value is. */
export type SpanType = "object" | "array" | "string" | "number" | "boolean" | "null";

/** The type of the value at a span, by its first byte. */
export function spanType(frame: Uint8Array, span: Span): SpanType {
  throw new Error(`not built yet: ${frame.length} ${span.start}`);
}

/**
 * The value at a path of keys below the object at `span`, such as `["_meta", "progressToken"]`; undefined when a key is
 * absent or something on the way is not an object. The last of equal keys counts.
 * @throws {FramingError} `FRAME_NOT_JSON` when an object on the way is malformed at its own level.
 */
export function readMember(frame: Uint8Array, span: Span, path: readonly string[]): Span | undefined {
  throw new Error(`not built yet: ${frame.length} ${span.start} ${path.length}`);
}

/**
 * The string, number, boolean or null at a span, as `JSON.parse` reads it; undefined for an object or array.
 * @throws {FramingError} `FRAME_NOT_JSON` when the span is not one JSON value.
 */
export function readScalar(frame: Uint8Array, span: Span): string | number | boolean | null | undefined {
  throw new Error(`not built yet: ${frame.length} ${span.start}`);
}

/**
 * The string at a span, as `JSON.parse` reads it; undefined when the value is not a string.
 * @throws {FramingError} `FRAME_NOT_JSON` when it begins as a string and is not one.
 */
export function readString(frame: Uint8Array, span: Span): string | undefined {
  throw new Error(`not built yet: ${frame.length} ${span.start}`);
}

/**
 * The elements of the array at a span, in order.
 * @throws {FramingError} `FRAME_NOT_JSON` when the value is not an array or is malformed at its own level; `TOO_MANY_ITEMS`.
 */
export function splitArray(frame: Uint8Array, span: Span, limits?: SplitLimits): readonly Span[] {
  throw new Error(`not built yet: ${frame.length} ${span.start} ${limits?.maxItems}`);
}

/**
 * The members of the object at a span, in order, equal keys included.
 * @throws {FramingError} `FRAME_NOT_JSON` when the value is not an object or is malformed at its own level; `TOO_MANY_ITEMS`.
 */
export function splitObject(frame: Uint8Array, span: Span, limits?: SplitLimits): readonly MemberSpan[] {
  throw new Error(`not built yet: ${frame.length} ${span.start} ${limits?.maxItems}`);
}
