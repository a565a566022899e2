import { type Edit, type Span, splitObject } from "@berth/jsonrpc-framing";
import { copySpan, encodeText, joined, replacing } from "../translate.js";

/** Members put at the beginning of the object at a span; none of these names may be in it. */
export function insertion(frame: Uint8Array, object: Span, members: string): Edit {
  const isEmpty = splitObject(frame, object).length === 0;
  const at = object.start + 1;
  return { start: at, end: at, bytes: encodeText(isEmpty ? members : `${members},`) };
}

/** The object at a span without members of these names; undefined when it has none of them. Other members stay to the byte. */
export function removal(frame: Uint8Array, object: Span, names: ReadonlySet<string>): Edit | undefined {
  const members = splitObject(frame, object);
  const kept = members.filter(({ key }) => !names.has(key));
  if (kept.length === members.length) return undefined;
  return replacing(object, objectOf(frame, kept, ""));
}

/** The object at a span with these members first, in place of any of the same names. */
export function withMembers(frame: Uint8Array, object: Span, names: ReadonlySet<string>, members: string): Edit {
  const all = splitObject(frame, object);
  const kept = all.filter(({ key }) => !names.has(key));
  if (kept.length === all.length) return insertion(frame, object, members);
  return replacing(object, objectOf(frame, kept, members));
}

function objectOf(frame: Uint8Array, kept: ReturnType<typeof splitObject>, first: string): Uint8Array {
  const parts: (Uint8Array | string)[] = first === "" ? [] : [first];
  for (const { keySpan, value } of kept) {
    if (parts.length > 0) parts.push(",");
    parts.push(copySpan(frame, { start: keySpan.start, end: value.end }));
  }
  return joined("{", ...parts, "}");
}
