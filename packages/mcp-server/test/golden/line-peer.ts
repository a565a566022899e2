import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createMcpServer, RpcError } from "../../src/index.js";
import { pipe } from "../support/piped.js";
import { type Clock, until } from "./clock.js";
import { goldenServer } from "./server.js";
import { shown } from "./shown.js";
import type { Header } from "./transcript.js";

/** A stdio server as its client has it: bytes in, lines out. */
export interface LinePeer {
  write(bytes: Uint8Array): void;
  /** The next line, without its line feed. */
  next(): Promise<string>;
  /** What it wrote that `next` has not given out yet. */
  readonly unread: string;
  /** What it said beside the protocol, for whoever looks for a fault. */
  readonly told: string;
  /** Ends its input and resolves with its exit code. */
  end(): Promise<number | null>;
}

/** In this process, over two streams in memory. */
export function openPiped({ limits, onUnexpectedError = "continue", server = {} }: Header, clock: Clock): LinePeer {
  const made = goldenServer({ createMcpServer, RpcError, shown }, clock.now, server);
  const piped = pipe(made, { limits, onUnexpectedError });
  const lines = collectLines();
  piped.output.on("data", lines.add);
  return {
    write: (bytes) => void piped.input.write(bytes),
    next: lines.next,
    get unread() {
      return lines.unread();
    },
    get told() {
      return piped.logged.join("\n");
    },
    async end() {
      piped.input.end();
      const { code } = await piped.ended;
      await made.close();
      await new Promise(setImmediate); // what it wrote last is on its way through the stream
      return code;
    },
  };
}

/** The built package in a process of its own. */
export function openChild({ limits, onUnexpectedError = "continue", server = {} }: Header): LinePeer {
  const program = fileURLToPath(new URL("stdio-server.mjs", import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify({ limits, onUnexpectedError, server })]);
  const exited = new Promise<number | null>((resolve) => void child.on("close", resolve));
  const lines = collectLines();
  child.stdout.on("data", lines.add);
  let told = "";
  child.stderr.on("data", (chunk) => {
    told += chunk;
  });
  child.stdin.on("error", () => undefined); // it may end by itself while it is written to
  return {
    write: (bytes) => void child.stdin.write(bytes),
    next: lines.next,
    get unread() {
      return lines.unread();
    },
    get told() {
      return told;
    },
    end() {
      child.stdin.end();
      return exited;
    },
  };
}

function collectLines() {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  return {
    add(chunk: Uint8Array): void {
      text += decoder.decode(chunk, { stream: true });
    },
    unread: () => text,
    async next() {
      await until(() => text.includes("\n"), "a line of the server");
      const end = text.indexOf("\n");
      const line = text.slice(0, end);
      text = text.slice(end + 1);
      return line;
    },
  };
}
