import { wireErrors } from "@berth/jsonrpc-framing";
import { resultFrame } from "../translate.js";
import { notServed } from "../wire-errors.js";
import type { ResourceFinder } from "./find-resource.js";
import type { Handshake } from "./initialize.js";
import { answerList } from "./lists.js";
import type { Logging } from "./logging.js";
import { callNamed } from "./named-calls.js";
import type { ClientCall } from "./open-calls.js";
import { refuseCall, relayCall } from "./relay-call.js";
import { callResource, complete } from "./resource-calls.js";
import type { SessionParts } from "./session-parts.js";
import { callTask, listTasks } from "./task-calls.js";

/** The parts that requests are routed to. */
export interface RouteParts {
  readonly session: SessionParts;
  readonly handshake: Handshake;
  readonly finder: ResourceFinder;
  readonly logging: Logging;
}

type Route = (parts: RouteParts, call: ClientCall) => unknown;

/** Client requests of 2024-11-05 to 2025-11-25. Each route answers its call in every case and never rejects. */
const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
  ["initialize", ({ session, handshake }, call) => handshake.answer(session, call)],
  ["ping", ({ session }, call) => session.calls.answer(call, resultFrame(call.idBytes, "{}"))],
  ["tools/call", ({ session }, call) => callNamed(session, call, "tools")],
  ["prompts/get", ({ session }, call) => callNamed(session, call, "prompts")],
  ["tools/list", ({ session }, call) => answerList(session, call, "tools")],
  ["prompts/list", ({ session }, call) => answerList(session, call, "prompts")],
  ["resources/list", ({ session }, call) => answerList(session, call, "resources")],
  ["resources/templates/list", ({ session }, call) => answerList(session, call, "resourceTemplates")],
  ["resources/read", ({ session, finder }, call) => callResource(session, call, finder)],
  ["resources/subscribe", ({ session, finder }, call) => callResource(session, call, finder)],
  ["resources/unsubscribe", ({ session, finder }, call) => callResource(session, call, finder)],
  ["completion/complete", ({ session, finder }, call) => complete(session, call, finder)],
  ["logging/setLevel", ({ session, logging }, call) => logging.set(session, call)],
  ["tasks/get", ({ session }, call) => callTask(session, call)],
  ["tasks/result", ({ session }, call) => callTask(session, call)],
  ["tasks/cancel", ({ session }, call) => callTask(session, call)],
  ["tasks/list", ({ session }, call) => listTasks(session, call)],
]);

/** Takes a request to what deals with its method. */
export function routeCall(parts: RouteParts, call: ClientCall): void {
  void (routes.get(call.method) ?? passUnknown)(parts, call);
}

/** A method of a later revision or of an extension: with one server it is that server's to answer. */
function passUnknown({ session }: RouteParts, call: ClientCall): unknown {
  const [only, ...others] = session.upstreams;
  if (only !== undefined && others.length === 0) return relayCall(session, call, { upstream: only });
  const fault = notServed(wireErrors.methodNotFound, "UNKNOWN_METHOD", `Method not found: ${call.method}`);
  return refuseCall(session, call, fault, {});
}
