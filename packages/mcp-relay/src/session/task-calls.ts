import { readString, wireErrors } from "@berth/jsonrpc-framing";
import { joined, resultFrame } from "../translate.js";
import { fetchList, maxElements } from "../upstream/fetch-list.js";
import type { Upstream } from "../upstream/upstream.js";
import { visibleText } from "../visible-text.js";
import { notServed, RelayFault } from "../wire-errors.js";
import { isLong } from "./id-length.js";
import type { ClientCall } from "./open-calls.js";
import { refuseCall, relayCall } from "./relay-call.js";
import type { SessionParts } from "./session-parts.js";
import type { LookedInto } from "./task-owners.js";

const taskList = { method: "tasks/list", member: "tasks", nameMember: "taskId" };

/** `tasks/get`, `tasks/result`, `tasks/cancel` (MCP 2025-11-25): to the server that created the task. */
export async function callTask(session: SessionParts, call: ClientCall): Promise<void> {
  const span = call.envelope.members?.get("taskId");
  const taskId = span && readString(call.frame, span);
  const upstream = taskId === undefined ? undefined : ownerOf(session, taskId);
  const looked = session.intercepting === undefined ? undefined : lookedOf(session, call, taskId);
  if (upstream !== undefined && looked !== "unknown") return relayCall(session, call, { upstream, looked });
  refuseCall(
    session,
    call,
    notServed(wireErrors.invalidParams, "UNKNOWN_TASK", `Unknown task: ${taskId ?? "taskId must be a string"}`),
    {},
  );
}

/** `tasks/list`: of every child that runs, since a task does not outlive its child. */
export async function listTasks(session: SessionParts, call: ClientCall): Promise<void> {
  const [only, ...others] = session.upstreams;
  if (only !== undefined && others.length === 0) return relayCall(session, call, { upstream: only });
  try {
    const lists = await Promise.all(session.upstreams.map((upstream) => tasksOf(session, upstream)));
    const elements = lists.flat().flatMap((task, index) => (index === 0 ? [task] : [",", task]));
    session.calls.answer(call, resultFrame(call.idBytes, joined('{"tasks":[', ...elements, "]}")));
  } catch (error) {
    refuseCall(session, call, error, {});
  }
}

/** The outcome of a task is looked into like that of the call which created it; one that nobody is known to have created is not given. */
function lookedOf(
  { tasks }: SessionParts,
  call: ClientCall,
  taskId: string | undefined,
): LookedInto | undefined | "unknown" {
  return call.method === "tasks/result" && taskId !== undefined ? tasks.looked(taskId) : undefined;
}

function ownerOf({ tasks, upstreams }: SessionParts, taskId: string): Upstream | undefined {
  const owner = tasks.owner(taskId);
  if (owner !== undefined) return upstreams.find(({ terms }) => terms.name === owner);
  const able = upstreams.filter(({ live }) => live?.introduction.capabilities.has("tasks") ?? false);
  return able.length === 1 ? able[0] : undefined;
}

async function tasksOf(
  { tasks, terms, notice }: SessionParts,
  { live, terms: server }: Upstream,
): Promise<Uint8Array[]> {
  if (!(live?.introduction.capabilities.has("tasks") ?? false) || live === undefined) return [];
  const { maxListPages: maxPages, maxListBytes: maxBytes } = terms.limits;
  const { listMs } = server.waits;
  const bounds = { listMs, maxPages, maxBytes, maxElements: maxElements.shown, now: () => terms.scheduler.now() };
  try {
    const { entries } = await fetchList(live.peer, server.name, taskList, bounds);
    for (const { name, nameSpan } of entries) if (!isLong(nameSpan)) tasks.note(server.name, name);
    return entries.map(({ frame, span }) => frame.subarray(span.start, span.end));
  } catch (error) {
    if (!(error instanceof RelayFault)) throw error;
    notice({ code: error.parts.reason, server: server.name, message: visibleText(error.parts.problem) });
    return [];
  }
}
