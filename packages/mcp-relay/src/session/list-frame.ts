import { splitObject } from "@berth/jsonrpc-framing";
import { encodeText, joined, replacing, resultFrame, withId } from "../translate.js";
import type { JudgedEntry } from "../upstream/judge-list.js";
import type { OwnAnswer } from "../upstream/own-request.js";

/** One element as the client will see it. */
export interface Shown {
  readonly server: string;
  /** The server's own name, URI or template. */
  readonly name: string;
  /** The name under which it is seen. */
  readonly exposed: string;
  readonly bytes: Uint8Array;
  /** Where it stands in the server's answer; absent when it comes from a pin. */
  readonly entry?: JudgedEntry | undefined;
}

/** What one server contributes to a list. */
export interface Contribution {
  readonly shown: readonly Shown[];
  /** Its first page; absent when the elements come from pins. */
  readonly firstPage?: OwnAnswer | undefined;
  /** Whether `shown` is all that was on that page, and that page all there is. */
  readonly complete: boolean;
}

/**
 * The answer to a client's list request. With one server it is that server's own answer with names replaced, elements left out and pages
 * joined; members that we do not know stay. With several it holds the array alone.
 */
export function listFrame(idBytes: Uint8Array, member: string, contributions: readonly Contribution[]): Uint8Array {
  const [only, ...others] = contributions;
  const elements = contributions.flatMap(({ shown }) => shown.map(({ bytes }) => bytes));
  if (only?.firstPage === undefined || others.length > 0) {
    return resultFrame(idBytes, joined(`{${JSON.stringify(member)}:`, jsonArray(elements), "}"));
  }
  const { frame, envelope } = only.firstPage;
  if (only.complete) return withId(frame, envelope, idBytes, renamings(only.shown));
  return resultFrame(idBytes, resultWith(only.firstPage, member, elements));
}

function renamings(shown: readonly Shown[]) {
  return shown.flatMap(({ entry, name, exposed }) =>
    entry === undefined || name === exposed ? [] : [replacing(entry.nameSpan, encodeText(JSON.stringify(exposed)))],
  );
}

/** The result of the first page with another array and without `nextCursor`. */
function resultWith({ frame, envelope }: OwnAnswer, member: string, elements: readonly Uint8Array[]): Uint8Array {
  const { result } = envelope;
  const members = result === undefined ? [] : splitObject(frame, result);
  const parts = members
    .filter(({ key }) => key !== "nextCursor")
    .map(({ key, keySpan, value }) => {
      const written = key === member ? jsonArray(elements) : frame.subarray(value.start, value.end);
      return joined(frame.subarray(keySpan.start, keySpan.end), ":", written);
    });
  return joined("{", ...separated(parts), "}");
}

function jsonArray(elements: readonly Uint8Array[]): Uint8Array {
  return joined("[", ...separated(elements), "]");
}

function separated(parts: readonly Uint8Array[]): (Uint8Array | string)[] {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [",", part]));
}
