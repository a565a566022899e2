import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { answerHead, goOn } from "./http-answer.js";
import { type BodyFraming, endToEndFields, type RequestHead, readFraming } from "./http-head.js";
import type { HttpTarget } from "./http-target.js";
import type { Intake } from "./intake.js";
import type { Reached } from "./reach.js";
import { EgressRefused, malformed } from "./refused.js";
import { readBody } from "./request-body.js";

/** One request and where it goes. */
export interface Exchange {
  readonly head: RequestHead;
  readonly target: Extract<HttpTarget, { kind: "forward" }>;
  readonly framing: BodyFraming;
  readonly awaitsContinue: boolean;
}

const maxAnswerHeadBytes = 65_536;
const bodiless = new Set(["GET", "HEAD", "DELETE", "OPTIONS"]);

/** @throws {EgressRefused} `REQUEST_INVALID`: everything that can be wrong is found before a connection is made. */
export function readExchange(head: RequestHead, target: Extract<HttpTarget, { kind: "forward" }>): Exchange {
  const expectations = head.fields.filter(([name]) => name === "expect").map(([, value]) => value.toLowerCase());
  if (expectations.some((value) => value !== "100-continue"))
    throw malformed("an expectation that is not 100-continue");
  const awaitsContinue = expectations.length > 0 && head.version === "1.1";
  return { head, target, framing: readFraming(head), awaitsContinue };
}

/**
 * Sends one request over a connection of its own and its answer back. Both heads are written anew from what was read, so that
 * what one parser took for a request is what the next one sees.
 * @throws {EgressRefused} when nothing was answered yet.
 */
export async function forwardRequest(
  exchange: Exchange,
  reached: Reached,
  client: Socket,
  intake: Intake,
  signal: AbortSignal,
): Promise<void> {
  const sent = startRequest(exchange, reached, signal);
  try {
    if (exchange.awaitsContinue) client.write(goOn);
    void sendBody(sent, intake, exchange.framing, signal);
    await sendAnswer(client, await answerOf(sent, signal), exchange.head, signal);
  } finally {
    sent.on("error", () => {}).destroy(); // what it still says is of no use
    reached.socket.destroy();
  }
}

function startRequest(exchange: Exchange, reached: Reached, signal: AbortSignal): ClientRequest {
  const { head, target, framing } = exchange;
  const host = target.to.port === 80 ? reached.host : `${reached.host}:${target.to.port}`;
  const fields = [["host", host], ...endToEndFields(head.fields), ...framingFields(head.method, framing)];
  return request({
    createConnection: () => reached.socket,
    method: head.method,
    path: target.path,
    headers: fields.flat(),
    maxHeaderSize: maxAnswerHeadBytes,
    insecureHTTPParser: false,
    signal,
  });
}

function framingFields(method: string, framing: BodyFraming): readonly (readonly [string, string])[] {
  if (framing.kind === "length") return [["content-length", String(framing.bytes)]];
  if (framing.kind === "chunked") return [["transfer-encoding", "chunked"]];
  return bodiless.has(method) ? [] : [["content-length", "0"]];
}

/** Never rejects: a fault of the body ends the request, whose failure is seen by who waits for the answer. */
async function sendBody(sent: ClientRequest, intake: Intake, framing: BodyFraming, signal: AbortSignal): Promise<void> {
  try {
    for await (const piece of readBody(intake, framing)) {
      if (!sent.write(piece)) await once(sent, "drain", { signal });
    }
    sent.end();
  } catch (error) {
    sent.destroy(error instanceof Error ? error : malformed("the body ended"));
  }
}

function answerOf(sent: ClientRequest, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const failed = (error?: Error): void => {
      if (signal.aborted) reject(signal.reason);
      else if (error instanceof EgressRefused) reject(error);
      else reject(new EgressRefused("CONNECT_FAILED", "the host did not answer with HTTP"));
    };
    // Also its mere end: a switch of protocols that nobody asked for is no error to Node.
    sent.once("response", resolve).once("error", failed).once("close", failed);
  });
}

async function sendAnswer(
  client: Socket,
  response: IncomingMessage,
  head: RequestHead,
  signal: AbortSignal,
): Promise<void> {
  const chunked = writeAnswerHead(client, response, head);
  try {
    for await (const piece of response) {
      if (!client.write(chunked ? chunkOf(piece) : piece)) await once(client, "drain", { signal });
    }
    if (chunked) client.write("0\r\n\r\n");
    client.end();
  } catch {
    // An answer that breaks off breaks the client's connection too: it must not take the part for the whole.
    client.destroy();
  }
}

/** Whether the body is to be sent in chunks: its length is not known, and the client can read them. */
function writeAnswerHead(client: Socket, response: IncomingMessage, head: RequestHead): boolean {
  const status = response.statusCode ?? 502;
  const length = response.headers["content-length"];
  const empty = head.method === "HEAD" || status === 204 || status === 304;
  const chunked = !empty && length === undefined && head.version === "1.1";
  const framing: [string, string][] = chunked ? [["transfer-encoding", "chunked"]] : [];
  if (length !== undefined && status !== 204) framing.push(["content-length", length]);
  const fields = [...endToEndFields(pairsOf(response.rawHeaders)), ...framing];
  client.write(answerHead(status, response.statusMessage ?? "", fields));
  return chunked;
}

function chunkOf(piece: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]);
}

function pairsOf(flat: readonly string[]): (readonly [string, string])[] {
  const pairs: [string, string][] = [];
  for (let index = 0; index < flat.length; index += 2)
    pairs.push([flat[index]?.toLowerCase() ?? "", flat[index + 1] ?? ""]);
  return pairs;
}
