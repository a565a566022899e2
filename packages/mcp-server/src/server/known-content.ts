import type { JsonArray, JsonValue } from "@berth/jsonrpc-framing";
import { isObject } from "../json.js";
import type { ProtocolRevision } from "../revisions.js";

/** The revision since which every client knows every kind of content that this package can send. */
const allKnownSince: ProtocolRevision = "2025-06-18";

/**
 * Content as clients of this revision know it: one kind that its schema does not have would make them refuse the whole result. A link is told by its
 * address and sound by its type, as text.
 */
export function knownContent(content: JsonArray, revision: ProtocolRevision): JsonArray {
  return revision >= allKnownSince ? content : content.map((block) => knownBlock(block, revision));
}

/** As `knownContent`, for the messages of a prompt. */
export function knownMessages(messages: JsonArray, revision: ProtocolRevision): JsonArray {
  if (revision >= allKnownSince) return messages;
  return messages.map((one) =>
    isObject(one) ? { ...one, content: knownBlock(one["content"] ?? null, revision) } : one,
  );
}

function knownBlock(block: JsonValue, revision: ProtocolRevision): JsonValue {
  if (!isObject(block)) return block;
  const { type, name, uri, mimeType } = block;
  if (type === "resource_link" && revision < "2025-06-18") return { type: "text", text: `${name}: ${uri}` };
  if (type === "audio" && revision < "2025-03-26") return { type: "text", text: `(sound, ${mimeType})` };
  return block;
}
