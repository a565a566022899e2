import type { Readable, Writable } from "node:stream";
import { type GuestFrame, maxGuestFrameBytes, readGuestFrame } from "./guest-frame.js";

/** What the host asks of the agent. */
export type HostFrame =
  | { readonly op: "hello"; readonly dial: string; readonly ms: number; readonly forward?: ForwardFrame | undefined }
  | { readonly op: "deadline"; readonly ms: number }
  | { readonly op: "signal"; readonly id: number; readonly signal: number; readonly group: boolean }
  | { readonly op: "resize"; readonly id: number; readonly columns: number; readonly rows: number }
  | (StartFrame & { readonly id: number; readonly tokens: readonly string[] });

/** A loopback port inside, and the socket that its connections go to. */
export interface ForwardFrame {
  readonly port: number;
  readonly socket: string;
}

/** What can be started inside. */
export type StartFrame =
  | {
      readonly op: "spawn";
      /** `stream`: the first stream, which is its stdout too. `own`: the third stream. `none`: an empty file. */
      readonly stdin: "stream" | "own" | "none";
      readonly argv: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string;
    }
  | {
      readonly op: "terminal";
      readonly argv: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string;
      readonly columns: number;
      readonly rows: number;
    }
  | { readonly op: "relay"; readonly port: number };

/** Line frames to and from an agent. */
export interface ControlChannel {
  send(frame: HostFrame): void;
}

export interface ControlEvents {
  readonly onFrame: (frame: GuestFrame) => void;
  /** Told once, what the agent sent that it may not; nothing is read afterwards. */
  readonly onFault: (fault: string) => void;
}

/** Speaks with the agent over its stdin and stdout. Both belong to the caller. */
export function openControl(streams: { stdin: Writable; stdout: Readable }, events: ControlEvents): ControlChannel {
  let rest = "";
  let spent = false;
  const fail = (fault: string): void => {
    spent = true;
    streams.stdout.removeListener("data", onChunk);
    streams.stdout.resume();
    events.onFault(fault);
  };
  const onLine = (line: string): void => {
    const frame = readGuestFrame(line);
    if (frame === undefined) fail("a line that is not a frame");
    else events.onFrame(frame);
  };
  const onChunk = (chunk: Buffer): void => {
    const lines = (rest + chunk.toString("latin1")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (spent) return;
      if (line.length > maxGuestFrameBytes) fail("a line that is too long");
      else onLine(line);
    }
    if (!spent && rest.length > maxGuestFrameBytes) fail("a line that is too long");
  };
  // An agent that has gone is told by the end of its process.
  streams.stdin.on("error", () => {});
  streams.stdout.on("error", () => {});
  streams.stdout.on("data", onChunk);
  return { send: (frame) => sendLine(streams.stdin, frame) };
}

function sendLine(stdin: Writable, frame: HostFrame): void {
  // What was still meant for an agent that has gone does not matter.
  if (!stdin.writable) return;
  stdin.write(`${JSON.stringify(frame)}\n`);
}
