import type { JsonObject } from "@berth/jsonrpc-framing";
import { maxTranscriptBytes, maxTranscriptLines, type TranscriptEntry } from "../transcript/transcript.js";

/** What both sides wrote, in order and within bounds. */
export interface Minutes {
  readonly entries: readonly TranscriptEntry[];
  host(msg: JsonObject): void;
  /** @returns what is wrong when there is no room for it. */
  plugin(msg: JsonObject, byteLength: number): string | undefined;
  /** A line of the plugin that is no message. */
  raw(text: string): void;
}

export function createMinutes(): Minutes {
  const entries: TranscriptEntry[] = [];
  let bytesLeft = maxTranscriptBytes;
  return {
    entries,
    host: (msg) => void entries.push({ dir: "host", msg }),
    plugin: (msg, byteLength) => {
      bytesLeft -= byteLength;
      if (entries.length >= maxTranscriptLines) return `it wrote more than ${maxTranscriptLines} lines`;
      if (bytesLeft < 0) return `it wrote more than ${maxTranscriptBytes} bytes`;
      entries.push({ dir: "plugin", msg });
      return undefined;
    },
    raw: (raw) => void entries.push({ dir: "plugin", raw }),
  };
}
