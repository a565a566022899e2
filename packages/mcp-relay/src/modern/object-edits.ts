import { type Edit, type Span, splitObject } from "@berth/jsonrpc-framing";
import { encodeText } from "../translate.js";

const nothing = new Uint8Array();

/** Members put at the beginning of the object at a span; none of these names may be in it. */
export function insertion(frame: Uint8Array, object: Span, members: string): Edit {
  const at = object.start + 1;
  return { start: at, end: at, bytes: encodeText(isEmpty(frame, object) ? members : `${members},`) };
}

/** Takes all members of these names out of the object at a span; everything else stays to the byte. @throws {FramingError} `TOO_MANY_ITEMS` */
export function removals(frame: Uint8Array, object: Span, names: ReadonlySet<string>): readonly Edit[] {
  const members = splitObject(frame, object);
  const isGone = members.map(({ key }) => names.has(key));
  const firstKept = isGone.indexOf(false);
  if (firstKept === -1) return members.length === 0 ? [] : [without(object.start + 1, object.end - 1)];
  return members.flatMap(({ keySpan, value }, index) => {
    if (isGone[index] !== true) return [];
    const before = members[index - 1];
    // The comma goes with it: the one behind where nothing is kept in front of it, else the one before.
    if (index < firstKept || before === undefined) {
      return [without(keySpan.start, members[index + 1]?.keySpan.start ?? value.end)];
    }
    return [without(before.value.end, value.end)];
  });
}

/** The object at a span with these members first, in place of any of the same names. @throws {FramingError} `TOO_MANY_ITEMS` */
export function withMembers(
  frame: Uint8Array,
  object: Span,
  names: ReadonlySet<string>,
  members: string,
): readonly Edit[] {
  const gone = removals(frame, object, names);
  const [first] = gone;
  if (first !== undefined && first.start === object.start + 1 && first.end === object.end - 1) {
    return [{ ...first, bytes: encodeText(members) }];
  }
  return [insertion(frame, object, members), ...gone];
}

function without(start: number, end: number): Edit {
  return { start, end, bytes: nothing };
}

/** Looked up without the members being counted: an object may have any number of them. */
function isEmpty(frame: Uint8Array, { start, end }: Span): boolean {
  for (let at = start + 1; at < end; at += 1) {
    const byte = frame[at];
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return byte === 0x7d;
  }
  return true;
}
