import { PassThrough, type Readable } from "node:stream";
import { isFramingError, readMember, scanEnvelope } from "@berth/jsonrpc-framing";
import { modernMetaKeys } from "@berth/mcp-server/protocol";

/** What a client speaks over standard input and output. */
export type SpokenOverStdio = "mcp" | "json-rpc";

/** As much as one message may have. A first line over this is no MCP. */
const maxLineBytes = 16 * 1024 * 1024;
const lineFeed = 0x0a;
const openings: ReadonlySet<string> = new Set(["initialize", "server/discover", "ping"]);

/** A client's input, from its first byte on, and what it speaks. */
export interface OpenedInput {
  readonly spoken: SpokenOverStdio;
  readonly readable: Readable;
}

/**
 * Looks at the first line of a client: MCP opens with `initialize` or `server/discover`, or names its revision in each request; any other method is one of the
 * host's own, and so is what ends before a line. An abort of `signal` ends the wait as the end of input does.
 */
export function openInput(input: Readable, signal: AbortSignal): Promise<OpenedInput> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (isOver: boolean): void => {
      release();
      const seen = Buffer.concat(chunks);
      const readable = new PassThrough();
      if (seen.length > 0) readable.write(seen);
      // Who reads no more lets go of the input, which would keep the process.
      readable.once("close", () => input.destroy());
      if (isOver) readable.end();
      else input.once("error", (error) => readable.destroy(error)).pipe(readable);
      resolve({ spoken: spokenIn(seen), readable });
    };
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      length += chunk.length;
      if (chunk.includes(lineFeed) || length > maxLineBytes) settle(false);
    };
    const onEnd = (): void => settle(true);
    const onError = (error: Error): void => {
      release();
      reject(error);
    };
    const release = (): void => {
      input.pause().off("data", onData).off("end", onEnd).off("error", onError);
      signal.removeEventListener("abort", onEnd);
    };
    input.on("data", onData).once("end", onEnd).once("error", onError);
    signal.addEventListener("abort", onEnd, { once: true });
    if (signal.aborted) onEnd();
  });
}

function spokenIn(bytes: Buffer): SpokenOverStdio {
  const at = bytes.indexOf(lineFeed);
  const line = at === -1 ? bytes : bytes.subarray(0, at);
  try {
    const { method, params } = scanEnvelope(line);
    const names = params && readMember(line, params, ["_meta", modernMetaKeys.protocolVersion]);
    return names !== undefined || openings.has(method ?? "") ? "mcp" : "json-rpc";
  } catch (error) {
    if (!isFramingError(error)) throw error;
    return "json-rpc"; // it is told there what its line is
  }
}
