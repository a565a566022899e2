import type { JsonValue } from "@berth/jsonrpc-framing";
import { expect } from "vitest";
import { type Clock, untilQuiet } from "./clock.js";
import type { LinePeer } from "./line-peer.js";
import { Placeholders } from "./placeholders.js";
import type { Exchange, Line, Transcript } from "./transcript.js";

/** Plays an exchange and throws at the first byte of the server's that is not as it is written, or is missing, or too many. */
export async function checkStdio(transcript: Transcript, { header, lines }: Exchange, peer: LinePeer, clock: Clock) {
  const placeholders = new Placeholders();
  try {
    await shakeHands(transcript, { header, lines }, peer);
    for (const line of lines) {
      if (line.dir === "server") expectLine(await peer.next(), line, placeholders);
      else play(line, peer, clock, placeholders);
    }
    if (header.exit === undefined) {
      // Whatever it still had to say comes before the answer to this, or after it.
      peer.write(Buffer.from(`${JSON.stringify(fence)}\n`));
      expect(await peer.next()).toMatch(/^\{"jsonrpc":"2\.0","id":"fence",/);
    }
  } finally {
    const code = await peer.end();
    expect({ code, unread: peer.unread }, peer.told).toEqual({ code: header.exit ?? 0, unread: "" });
  }
}

/** Plays what the client says, and returns it with what the server says now. */
export async function recordStdio(
  transcript: Transcript,
  { header, lines }: Exchange,
  peer: LinePeer,
  clock: Clock,
): Promise<readonly Line[]> {
  const placeholders = new Placeholders();
  const recorded: Line[] = [];
  const take = async (): Promise<void> => {
    await untilQuiet(() => peer.unread.length);
    while (peer.unread.includes("\n")) {
      const text = await peer.next();
      recorded.push({ dir: "server", msg: placeholders.abstract(JSON.parse(text)) });
    }
  };
  await shakeHands(transcript, { header, lines }, peer);
  for (const line of lines.filter(({ dir }) => dir !== "server")) {
    recorded.push(line);
    play(line, peer, clock, placeholders);
    await take();
  }
  await peer.end();
  await take();
  return recorded;
}

const fence = { jsonrpc: "2.0", id: "fence", method: "ping" };

function expectLine(text: string, { msg = null }: Line, placeholders: Placeholders): void {
  const actual: JsonValue = JSON.parse(text);
  placeholders.bind(msg, actual);
  expect(text).toBe(JSON.stringify(placeholders.expand(msg)));
}

function play(line: Line, peer: LinePeer, clock: Clock, placeholders: Placeholders): void {
  if (line.dir === "clock") clock.pass(line.passMs ?? 0);
  else peer.write(bytesOf(line, placeholders));
}

function bytesOf({ msg, raw, bytes, eol = "\n" }: Line, placeholders: Placeholders): Uint8Array {
  if (bytes !== undefined) return Buffer.from(bytes + eol, "latin1");
  return Buffer.from((raw ?? JSON.stringify(placeholders.expand(msg ?? null))) + eol);
}

/** What comes before the lines where the revision has it; itself pinned by the exchanges that leave it out. */
async function shakeHands({ revision }: Transcript, { header }: Exchange, peer: LinePeer): Promise<void> {
  if (revision >= "2026-07-28" || header.handshake === false) return;
  for (const message of handshake(header.asks ?? revision, header.capabilities ?? {})) {
    peer.write(Buffer.from(`${JSON.stringify(message)}\n`));
    if ("id" in message) await peer.next();
  }
}

/** The two messages that open a session. */
export function handshake(protocolVersion: string, capabilities: JsonValue) {
  const params = { protocolVersion, capabilities, clientInfo: { name: "client", version: "1.0.0" } };
  return [
    { jsonrpc: "2.0", id: "open", method: "initialize", params },
    { jsonrpc: "2.0", method: "notifications/initialized" },
  ];
}
