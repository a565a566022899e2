import { isSessionError, type Outcome } from "@berth/code-sessions";
import type { ContentBlock } from "@berth/mcp-server";
import { unavailability } from "../unavailability.js";

/** What a tool returns when it went well: the value, and the same as text for whoever reads only that. */
export interface GoodResult<T> {
  readonly content: readonly ContentBlock[];
  readonly structuredContent: T;
  readonly isError: false;
}

export function textResult(result: string): GoodResult<{ readonly result: string }> {
  return { content: [{ type: "text", text: result }], structuredContent: { result }, isError: false };
}

/** Pictures that code showed, for a model to see. A client of the original reads the first block alone. */
export function pictureBlocks({ displays }: Outcome): readonly ContentBlock[] {
  const found = displays.flatMap(({ data }): ContentBlock[] => {
    // Code says what its displays are: what is no base64 would make a client refuse the whole answer.
    const mimeType = pictureTypes.find((type) => isBase64(data[type] ?? ""));
    return mimeType === undefined ? [] : [{ type: "image", data: data[mimeType] ?? "", mimeType }];
  });
  return found.slice(0, maxPictures);
}
const pictureTypes: readonly string[] = ["image/png", "image/jpeg", "image/webp"];
const maxPictures = 8;

function isBase64(text: string): boolean {
  return text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}

/** Behind everything else, so that a client of the original reads what it always read. Nothing for who is not restricted. */
export function restrictionBlocks({
  restriction,
}: {
  readonly restriction?: string | undefined;
}): readonly ContentBlock[] {
  return restriction === undefined ? [] : [{ type: "text", text: restriction }];
}

export function objectResult<T extends object>(value: T): GoodResult<T> {
  return { content: [textBlock(value)], structuredContent: value, isError: false };
}

/** Laid out as the original lays it out. */
export function textBlock(value: object): ContentBlock {
  return { type: "text", text: JSON.stringify(value, undefined, 2) };
}

/** What is refused is told with its reason. What is a fault of ours is thrown on, and hidden. */
export function refused(fault: unknown): RefusedResult {
  const unavailable = unavailability(fault);
  if (unavailable !== undefined) return refusal(unavailable.error, unavailable.cure);
  if (isSessionError(fault)) return refusal(fault.message, fault.cure);
  throw fault;
}

interface RefusedResult {
  readonly content: readonly ContentBlock[];
  readonly isError: true;
}

function refusal(error: string, cure: string | undefined): RefusedResult {
  const text = cure === undefined ? error : `${error}: ${cure}`;
  return { content: [{ type: "text", text }], isError: true };
}
