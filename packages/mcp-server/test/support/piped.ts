import { PassThrough } from "node:stream";
import type { JsonObject } from "@berth/jsonrpc-framing";
import type { McpServer } from "../../src/index.js";
import { type ServeStdioEnd, type ServeStdioOptions, serveStdio } from "../../src/stdio.js";

/** A stdio server in this process, over two streams in memory. */
export interface PipedServer {
  readonly input: PassThrough;
  readonly output: PassThrough;
  /** Each line that the server wrote, parsed. Grows. */
  readonly lines: JsonObject[];
  readonly logged: string[];
  readonly ended: Promise<ServeStdioEnd>;
  send(...messages: readonly unknown[]): void;
  /** Resolves when so many lines were written. */
  written(count: number): Promise<readonly JsonObject[]>;
}

export function pipe(
  server: McpServer<string>,
  options: Partial<ServeStdioOptions<string>> & { readonly highWaterMark?: number } = {},
): PipedServer {
  const input = new PassThrough();
  const output = new PassThrough({ highWaterMark: options.highWaterMark ?? 65_536 });
  const lines: JsonObject[] = [];
  const logged: string[] = [];
  const { highWaterMark, ...rest } = options;
  let text = "";
  if (highWaterMark === undefined) {
    output.on("data", (chunk) => {
      const parts = `${text}${chunk}`.split("\n");
      text = parts.pop() ?? "";
      lines.push(...parts.map((part) => JSON.parse(part)));
    });
  }
  const logger = (told: string): void => void logged.push(told);
  const ended = serveStdio({ server, principal: "ada", readable: input, writable: output, logger, ...rest });
  return {
    input,
    output,
    lines,
    logged,
    ended,
    send: (...messages) => void input.write(messages.map((message) => `${JSON.stringify(message)}\n`).join("")),
    async written(count) {
      const signal = AbortSignal.timeout(10_000);
      while (lines.length < count) {
        signal.throwIfAborted();
        await new Promise(setImmediate);
      }
      return lines;
    },
  };
}

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A request of 2026-07-28. */
export function request(id: string | number, method: string, params: JsonObject = {}): JsonObject {
  return { jsonrpc: "2.0", id, method, params: { ...params, _meta } };
}

export function toolCall(id: string | number, name: string, given: JsonObject = {}): JsonObject {
  return request(id, "tools/call", { name, arguments: given });
}
