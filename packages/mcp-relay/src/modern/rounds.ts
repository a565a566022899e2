import {
  type Envelope,
  readMember,
  readString,
  type Span,
  spanType,
  splice,
  splitObject,
} from "@berth/jsonrpc-framing";
import { copySpan, encodeText, joined } from "../translate.js";
import type { ClientTerms } from "./client-terms.js";
import { insertion } from "./object-edits.js";

/** Questions of one answer, and answers with questions of one call: a server must not ask for ever. */
export const roundLimits = { maxQuestions: 32, maxRounds: 16 } as const;

/** What the relay remembers of a question. */
export interface Question {
  /** Its name among the questions of its round. */
  readonly key: string;
  readonly method: string;
}

/** One question of a server to its client. */
export interface AskedQuestion extends Question {
  /** As the server wrote them. */
  readonly params: Uint8Array | undefined;
}

/** What a server wants to know before it goes on (MCP 2026-07-28, § Multi round-trip requests). */
export interface Round {
  readonly questions: readonly AskedQuestion[];
  /** As the server wrote it, quotes included. */
  readonly state: Uint8Array | undefined;
}

/** Reads a result of the type `input_required`. A string is a fault, one sentence. @throws {FramingError} `TOO_MANY_ITEMS` */
export function readRound(frame: Uint8Array, result: Span, client: ClientTerms): Round | string {
  const asked = present(frame, readMember(frame, result, ["inputRequests"]));
  const state = present(frame, readMember(frame, result, ["requestState"]));
  if (asked !== undefined && spanType(frame, asked) !== "object") return "its inputRequests is no object";
  const members = asked === undefined ? [] : splitObject(frame, asked);
  if (members.length === 0 && state === undefined) return "it asked for input and for nothing";
  if (members.length > roundLimits.maxQuestions) return `it asked ${members.length} questions at once`;
  if (new Set(members.map(({ key }) => key)).size < members.length) return "two of its questions have one name";
  const questions: AskedQuestion[] = [];
  for (const { key, value } of members) {
    const question = readQuestion(frame, key, value, client);
    if (typeof question === "string") return question;
    questions.push(question);
  }
  return { questions, state: state && copySpan(frame, state) };
}

/** Some libraries write `null` for what is not there. */
function present(frame: Uint8Array, span: Span | undefined): Span | undefined {
  return span !== undefined && spanType(frame, span) === "null" ? undefined : span;
}

function readQuestion(frame: Uint8Array, key: string, value: Span, client: ClientTerms): AskedQuestion | string {
  if (spanType(frame, value) !== "object") return "a question of it is no object";
  const method = readText(frame, value, ["method"]);
  const params = readMember(frame, value, ["params"]);
  const mode = readText(frame, value, ["params", "mode"]);
  if (method === undefined) return "a question of it has no method";
  if (params !== undefined && spanType(frame, params) !== "object")
    return "a question of it has params that are no object";
  // What was judged must be what the client's parser takes, whichever of two that is.
  if (hasTwice(frame, value) || (params !== undefined && hasTwice(frame, params)))
    return "a question of it has a member twice";
  if (!client.mayAsk(method, mode))
    return `it asks for ${JSON.stringify(method.slice(0, 80))}${mode === undefined ? "" : ` (${mode.slice(0, 20)})`}, which this client did not offer`;
  return { key, method, params: params && copySpan(frame, params) };
}

function hasTwice(frame: Uint8Array, object: Span): boolean {
  const members = splitObject(frame, object);
  return new Set(members.map(({ key }) => key)).size < members.length;
}

function readText(frame: Uint8Array, value: Span, path: readonly string[]): string | undefined {
  const span = readMember(frame, value, path);
  return span && readString(frame, span);
}

/** A question as a request of an older revision. @param id The relay's own. */
export function questionFrame(id: string, { method, params }: AskedQuestion): Uint8Array {
  const head = `{"jsonrpc":"2.0","id":"${id}","method":${JSON.stringify(method)}`;
  if (params === undefined) return encodeText(`${head}}`);
  return joined(`${head},"params":`, withElicitationId(id, params), "}");
}

/** 2025-11-25 wants an id on each address to be opened; 2026-07-28 has none. */
function withElicitationId(id: string, params: Uint8Array): Uint8Array {
  const object = { start: 0, end: params.length };
  if (readText(params, object, ["mode"]) !== "url") return params;
  if (readMember(params, object, ["elicitationId"]) !== undefined) return params;
  return splice(params, [insertion(params, object, `"elicitationId":"${id}"`)]);
}

/** What the client answered, as the server takes it; a string is a fault that ends the call. */
export function readReply(question: Question, frame: Uint8Array, { result, error }: Envelope): Uint8Array | string {
  if (result !== undefined) return copySpan(frame, result);
  // Who cannot be asked did not consent.
  if (question.method === "elicitation/create") return encodeText('{"action":"cancel"}');
  const message = error && readMember(frame, error, ["message"]);
  const text = message && readString(frame, message);
  return `the client did not answer ${question.method}${text === undefined ? "" : `: ${text.slice(0, 200)}`}`;
}

/** Members of a call that say what was answered, and that nobody else may write into its next round. */
export const retryNames: ReadonlySet<string> = new Set(["inputResponses", "requestState"]);

/** The members that a call gets when it is sent again; never none, since a round without questions has a state. */
export function retryMembers(replies: ReadonlyMap<string, Uint8Array>, state: Uint8Array | undefined): string {
  const answers = [...replies].map(([key, reply]) => `${JSON.stringify(key)}:${Buffer.from(reply).toString("utf8")}`);
  const parts = replies.size === 0 ? [] : [`"inputResponses":{${answers.join(",")}}`];
  if (state !== undefined) parts.push(`"requestState":${Buffer.from(state).toString("utf8")}`);
  return parts.join(",");
}
