import type { Socket } from "node:net";
import type { EgressDecision } from "./egress.js";
import type { EgressTerms } from "./egress-terms.js";
import { forwardRequest, readExchange } from "./forward.js";
import { readHostName } from "./host-name.js";
import { refusalAnswer, tunnelOpen } from "./http-answer.js";
import { readFraming, readHead } from "./http-head.js";
import { type Destination, readTarget } from "./http-target.js";
import { createIntake, type Intake } from "./intake.js";
import type { Reach, Reached } from "./reach.js";
import { EgressRefused, malformed, outcomeOf } from "./refused.js";
import { readSocksRequest, socksReply } from "./socks5.js";
import { joinSockets } from "./tunnel.js";

/** What a connection needs of its proxy. */
export interface EgressContext {
  readonly terms: EgressTerms;
  readonly reach: Reach;
}

/** What is known of a connection so far; what its decision will say. */
interface Conversation {
  readonly client: Socket;
  readonly intake: Intake;
  readonly signal: AbortSignal;
  readonly headRead: () => void;
  protocol: EgressDecision["protocol"];
  to: Destination;
  decided: boolean;
}

const lingerMs = 1_000;
const socksVersion = 5;

/** Serves one connection to its end. Never rejects, whatever comes. */
export async function serveClient(client: Socket, context: EgressContext): Promise<void> {
  const ended = new AbortController();
  const left = new EgressRefused("CONNECT_FAILED", "the client left");
  const late = new EgressRefused("LIMIT_REACHED", "no whole request came in time", 408);
  const deadline = setTimeout(() => ended.abort(late), context.terms.bounds.headTimeoutMs);
  const headRead = (): void => clearTimeout(deadline);
  client.on("error", () => client.destroy()).once("close", () => ended.abort(left));
  const intake = createIntake(client, ended.signal);
  const to = { host: "", port: 0 };
  const talk: Conversation = {
    client,
    intake,
    signal: ended.signal,
    headRead,
    protocol: "unknown",
    to,
    decided: false,
  };
  try {
    await converse(talk, context);
  } catch (error) {
    // Also a callback of the host that threw: what it could not record is not done.
    endRefused(talk, context, error);
  } finally {
    headRead();
  }
}

async function converse(talk: Conversation, context: EgressContext): Promise<void> {
  const first = await talk.intake.peek();
  if (first === socksVersion) return serveSocks(talk, context);
  if (first < 0x41 || first > 0x7a) throw malformed("neither HTTP nor SOCKS5");
  return serveHttp(talk, context);
}

async function serveHttp(talk: Conversation, context: EgressContext): Promise<void> {
  const { client, intake, signal } = talk;
  const { maxHeadBytes, idleTimeoutMs } = context.terms.bounds;
  talk.protocol = "http";
  const tooLong = (): Error => new EgressRefused("LIMIT_REACHED", `the head is over ${maxHeadBytes} bytes`, 431);
  const head = readHead(await intake.takeThrough("\r\n\r\n", maxHeadBytes, tooLong));
  talk.headRead();
  if (head.method === "CONNECT") talk.protocol = "connect";
  const target = readTarget(head);
  talk.to = target.to;
  if (target.kind === "connect") {
    if (readFraming(head).kind !== "none") throw malformed("CONNECT with a body");
    return joinClient(talk, await reachFor(talk, context), tunnelOpen, idleTimeoutMs);
  }
  const exchange = readExchange(head, target);
  const reached = await reachFor(talk, context);
  client.setTimeout(idleTimeoutMs, () => client.destroy());
  await forwardRequest(exchange, reached, client, intake, signal);
  linger(client, idleTimeoutMs);
}

async function serveSocks(talk: Conversation, context: EgressContext): Promise<void> {
  talk.protocol = "socks5";
  const request = await readSocksRequest(talk.intake, (bytes) => void talk.client.write(bytes));
  talk.headRead();
  talk.to = request.to;
  if (request.reply !== 0) throw malformed("only CONNECT is served");
  return joinClient(talk, await reachFor(talk, context), socksReply(0), context.terms.bounds.idleTimeoutMs);
}

async function reachFor(talk: Conversation, { reach, terms }: EgressContext): Promise<Reached> {
  const reached = await reach(talk.to, talk.signal);
  talk.decided = true;
  const { host, address, socket } = reached;
  try {
    terms.tell({ protocol: talk.protocol, host, port: talk.to.port, outcome: "allowed", reason: undefined, address });
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return reached;
}

function joinClient(talk: Conversation, { socket }: Reached, hello: Buffer, idleMs: number): Promise<void> {
  talk.client.write(hello);
  talk.intake.release();
  return joinSockets(talk.client, socket, idleMs);
}

function endRefused(talk: Conversation, { terms }: EgressContext, error: unknown): void {
  const { client } = talk;
  const refused = error instanceof EgressRefused ? error : undefined;
  const begun = client.bytesRead > 0 || refused?.reason === "LIMIT_REACHED";
  try {
    if (refused !== undefined && begun && !talk.decided) terms.tell(decisionOf(talk, refused));
  } catch {
    client.destroy(); // as with an allowed one; the callback's fault is the host's to log
  }
  if (refused === undefined || client.destroyed) client.destroy();
  else endPolitely(talk, answerTo(talk, refused), terms.bounds.idleTimeoutMs);
}

function decisionOf({ protocol, to }: Conversation, { reason }: EgressRefused): EgressDecision {
  const reading = readHostName(to.host);
  const host = "name" in reading ? reading.name : to.host.replace(/[^\x21-\x7e]/g, "?").slice(0, 253);
  return { protocol, host, port: to.port, outcome: outcomeOf(reason), reason, address: undefined };
}

function answerTo(talk: Conversation, refused: EgressRefused): Buffer | undefined {
  if (talk.protocol === "unknown") return undefined;
  if (talk.protocol !== "socks5") return refusalAnswer(refused);
  // Nothing follows a refused method (RFC 1928 § 3).
  return talk.to.port === 0 ? undefined : socksReply(refused.reason);
}

function endPolitely({ client }: Conversation, answer: Buffer | undefined, idleMs: number): void {
  if (answer !== undefined) client.write(answer);
  client.end();
  linger(client, idleMs);
}

/** Input that nobody read would turn the end into a reset, and take with it what was answered. */
function linger(client: Socket, idleMs: number): void {
  const begin = (): void => {
    const timer = setTimeout(() => client.destroy(), lingerMs);
    client.once("close", () => clearTimeout(timer));
  };
  client.setTimeout(idleMs, () => client.destroy());
  if (client.writableFinished) begin();
  else client.once("finish", begin);
  client.on("data", () => {}).resume();
}
