import { once } from "node:events";
import { PassThrough } from "node:stream";
import { createLineDecoder, type Scheduler, systemScheduler } from "@berth/jsonrpc-framing";
import type { Transport } from "@berth/stdio-transport";
import type { ProcessPluginError } from "../../src/errors.js";
import { createMcpHalf, type McpHalf } from "../../src/pipe/mcp-half.js";
import { createPluginPipe, type PluginPipe } from "../../src/pipe/plugin-pipe.js";

/** The MCP half over a pipe in memory, whose other end a test holds in place of a plugin. */
export interface HalfInMemory {
  readonly half: McpHalf;
  readonly pipe: PluginPipe;
  readonly stdin: PassThrough;
  /** The next line that the plugin gets, as bytes. */
  read(): Promise<Buffer>;
  readMessage(): Promise<{ readonly id: number; readonly method: string; readonly params: Record<string, unknown> }>;
  /** Writes a line as the plugin. */
  write(line: string): void;
  writeBytes(bytes: Uint8Array): void;
  /** Ends the plugin's output; resolves when all of it was read. */
  ended(): Promise<void>;
  readonly faults: ProcessPluginError[];
  /** Notifications that were for nobody. */
  readonly unplaced: string[];
  refuse(error: ProcessPluginError | undefined): void;
}

export function halfInMemory(
  options: { readonly maxCalls?: number; readonly maxMessageBytes?: number; readonly scheduler?: Scheduler } = {},
): HalfInMemory {
  const { maxCalls = 256, maxMessageBytes = 65_536, scheduler = systemScheduler } = options;
  const stdin = new PassThrough({ highWaterMark: 1_024 });
  const stdout = new PassThrough();
  const faults: ProcessPluginError[] = [];
  const unplaced: string[] = [];
  let refusal: ProcessPluginError | undefined;
  const pipe = createPluginPipe(
    { stdin, stdout, plugin: "smoke", maxMessageBytes, maxCalls, scheduler },
    {
      onNotification: (method, bytes, envelope) => {
        if (!half.onNotification(method, bytes, envelope)) unplaced.push(method);
      },
      onFault: (error) => {
        faults.push(error);
        half.end(error);
      },
      onSilence: () => {},
    },
  );
  const half: McpHalf = createMcpHalf({
    pipe,
    plugin: "smoke",
    refusal: () => refusal,
    callTimeoutMs: 60_000,
    maxMessageBytes,
  });
  const decoder = createLineDecoder();
  const lines: Buffer[] = [];
  const read = async (): Promise<Buffer> => {
    while (lines.length === 0) {
      const chunk: Buffer | null = stdin.read();
      if (chunk === null) await once(stdin, "readable");
      else lines.push(...decoder.push(chunk).map(({ bytes }) => Buffer.from(bytes)));
    }
    return lines.shift() ?? Buffer.alloc(0);
  };
  return {
    half,
    pipe,
    stdin,
    read,
    readMessage: async () => JSON.parse((await read()).toString("utf8")),
    write: (line) => void stdout.write(`${line}\n`),
    writeBytes: (bytes) => void stdout.write(bytes),
    ended: async () => {
      stdout.end();
      stdout.resume(); // a pipe that was ended reads no more
      if (!stdout.closed) await once(stdout, "close");
    },
    faults,
    unplaced,
    refuse: (error) => {
      refusal = error;
    },
  };
}

/** A client of the half: what it gets, in order. */
export interface TestClient {
  readonly transport: Transport;
  send(json: string): Promise<void>;
  /** The next frame, as text. */
  next(): Promise<string>;
  /** Frames that wait. */
  readonly waiting: readonly string[];
  readonly closed: Promise<Error | undefined>;
}

export function openTestClient(half: McpHalf): TestClient {
  const transport = half.openClient();
  const waiting: string[] = [];
  let wake: () => void = () => {};
  const closed = new Promise<Error | undefined>((resolve) => {
    transport.start({
      onFrame: ({ bytes }) => {
        waiting.push(Buffer.from(bytes).toString("utf8"));
        wake();
      },
      onFault: () => {},
      onClose: resolve,
    });
  });
  const next = async (): Promise<string> => {
    while (waiting.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return waiting.shift() ?? "";
  };
  return { transport, send: (json) => transport.send(Buffer.from(json, "utf8")), next, waiting, closed };
}

/** The two keys, and more members of `_meta`, as JSON. */
export function meta(more = ""): string {
  const keys = '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}';
  return `"_meta":{${keys}${more === "" ? "" : `,${more}`}}`;
}
