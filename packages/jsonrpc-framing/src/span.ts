/** A place in a frame: `frame.subarray(start, end)` is one JSON value, without white space around it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** One member of an object, in the order of the bytes; a key that occurs twice is listed twice. */
export interface MemberSpan {
  /** The key with its escapes resolved. */
  readonly key: string;
  /** The key as written, quotes included. */
  readonly keySpan: Span;
  readonly value: Span;
}

/** How many spans `splitArray` and `splitObject` may return. */
export interface SplitLimits {
  /** 1 to 16_777_216. Default 65_536. Above: `TOO_MANY_ITEMS`. */
  readonly maxItems?: number | undefined;
}
