import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";

/** What an exchange is, and how its server differs from the ordinary one. */
export interface Header {
  readonly title: string;
  /** Revision, page and section that decide the answer. */
  readonly spec: string;
  readonly outcome: "accepted" | "rejected";
  /** Revisions with `initialize`: false leaves out the handshake that comes before the lines. */
  readonly handshake?: boolean;
  /** What the client declares in that handshake. Default none. */
  readonly capabilities?: JsonObject;
  /** The revision that it asks for, when it is not the folder's. */
  readonly asks?: string;
  /** stdio: the server ends by itself, or by a cut input, with this code. Default: it goes on until its input ends, with code 0. */
  readonly exit?: 1;
  /** stdio: what it does after an unexpected error. Default `continue`. */
  readonly onUnexpectedError?: "exit" | "continue";
  /** Limits of the transport. */
  readonly limits?: { readonly [name: string]: number };
  /** Options of the server that JSON can say. */
  readonly server?: JsonObject;
  /** HTTP: options of the endpoint that JSON can say. */
  readonly http?: JsonObject;
  /** HTTP: limits of sessions. */
  readonly sessionLimits?: { readonly [name: string]: number };
  /** HTTP: keeps events, so that streams can be resumed. */
  readonly eventStore?: true;
}

/** One line: what one side says, or time that passes. Only one of the members is there. */
export interface Line {
  readonly dir: "client" | "server" | "clock";
  /** A legal message. */
  readonly msg?: JsonValue;
  /** stdio: a line as text, without its end. */
  readonly raw?: string;
  /** stdio: a line as bytes, one a character from U+0000 to U+00FF. */
  readonly bytes?: string;
  /** How a raw line ends. Default a line feed. */
  readonly eol?: string;
  /** HTTP: a request, or the answer to it. */
  readonly http?: HttpRequestLine & HttpAnswerLine;
  /** HTTP: names a stream that is read event by event. */
  readonly as?: string;
  readonly event?: JsonObject;
  /** HTTP: the stream ends (by the server), or is cut off (by the client). */
  readonly end?: true;
  /** Milliseconds that pass. */
  readonly passMs?: number;
}

/** Of the headers only those that differ from the ordinary ones are given; null: left out. An array: sent so often. */
export interface HttpRequestLine {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: { readonly [name: string]: string | readonly string[] | null };
  /** A message. */
  readonly body?: JsonValue;
  readonly raw?: string;
  readonly bytes?: string;
}

export interface HttpAnswerLine {
  readonly status?: number;
  readonly events?: readonly JsonObject[];
}

export interface Exchange {
  readonly header: Header;
  readonly lines: readonly Line[];
}

/** One golden file: the exchanges of a transport, a revision and a topic. */
export interface Transcript {
  /** Such as `stdio/2025-11-25/ids`. */
  readonly name: string;
  readonly transport: "stdio" | "http";
  readonly revision: string;
  readonly topic: string;
  readonly exchanges: readonly Exchange[];
}

export const folder: string = fileURLToPath(new URL("../../../../fixtures/transcripts/mcp-server/", import.meta.url));

export function readTranscripts(): readonly Transcript[] {
  const transports = ["stdio", "http"] as const;
  return transports.flatMap((transport) =>
    list(transport).flatMap((revision) =>
      list(join(transport, revision)).map((file) => {
        const topic = file.replace(/\.jsonl$/, "");
        const text = readFileSync(join(folder, transport, revision, file), "utf8");
        return { name: `${transport}/${revision}/${topic}`, transport, revision, topic, exchanges: parse(text) };
      }),
    ),
  );
}

function list(under: string): readonly string[] {
  return readdirSync(join(folder, under)).sort();
}

function parse(text: string): readonly Exchange[] {
  const exchanges: { header: Header; lines: Line[] }[] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    if (line.startsWith('{"title":')) exchanges.push({ header: JSON.parse(line), lines: [] });
    else exchanges.at(-1)?.lines.push(JSON.parse(line));
  }
  return exchanges;
}

export function writeTranscript({ name, exchanges }: Transcript): void {
  const blocks = exchanges.map(({ header, lines }) =>
    [header, ...lines].map((line) => JSON.stringify(line)).join("\n"),
  );
  writeFileSync(join(folder, `${name}.jsonl`), `${blocks.join("\n\n")}\n`);
}
