import { type JsonObject, type JsonValue, wireErrors } from "@berth/jsonrpc-framing";
import { RpcError } from "../errors.js";
import { isObject } from "../json.js";
import { maySee } from "../tasks/methods.js";
import type { TaskRecord } from "../tasks/record.js";
import { watchable, watchTasks } from "../tasks/watching.js";
import { forgetDenial } from "./authorize.js";
import type { ConnectionState, Delivery } from "./connection.js";
import type { RequestContext } from "./context.js";
import { type Core, complete, type Reply } from "./core.js";
import { findResource, requireAddressLength } from "./resources.js";

/** What can change: a list, by its capability. */
export type ChangedKind = "tools" | "prompts" | "resources";
const kinds: readonly ChangedKind[] = ["tools", "prompts", "resources"];

/** @throws {TypeError} for a kind that would be told to nobody. */
export function requireChangedKind(kind: ChangedKind): void {
  if (!kinds.includes(kind))
    throw new TypeError(`listChanged of ${JSON.stringify(kind)}: there are ${kinds.join(", ")}`);
}
const subscriptionKey = "io.modelcontextprotocol/subscriptionId";

/** `subscriptions/listen` (MCP 2026-07-28): stays open until the client cancels it or the server says farewell. Holds nothing of its message. */
export async function listen<P>(core: Core<P>, context: RequestContext<P>): Promise<Reply> {
  const { connection, id, signal } = context;
  const { maxSubscriptions, maxSubscriptionBytes } = core.registry.limits;
  const requireRoom = (): void => {
    if (connection.listens.size < maxSubscriptions) return;
    throw new RpcError(wireErrors.invalidParams, `${maxSubscriptions} subscriptions are open`);
  };
  requireRoom();
  const text = writeParams(context.params, maxSubscriptionBytes);
  const { notifications } = context.params;
  if (!isObject(notifications)) throw new RpcError(wireErrors.invalidParams, "notifications is not an object");
  const lists = listsOf(core, notifications);
  const uris = await readable(core, context, notifications["resourceSubscriptions"], maxSubscriptions);
  const tasks = await watchable(core, context, notifications["taskIds"], maxSubscriptions);
  signal.throwIfAborted();
  context.keepAsText(text);
  const honoured = {
    ...Object.fromEntries(lists.map((kind) => [`${kind}ListChanged`, true])),
    ...(uris.length > 0 ? { resourceSubscriptions: uris } : {}),
    ...(tasks.length > 0 ? { taskIds: tasks } : {}),
  };
  const _meta = { [subscriptionKey]: id };
  requireRoom(); // again: others may have begun while permissions were asked, and from here on nothing waits
  return new Promise((resolve, reject) => {
    let stopWatching: (() => void) | undefined;
    const end = (farewell: boolean): void => {
      if (!connection.removeListen(id)) return;
      signal.removeEventListener("abort", cancelled);
      stopWatching?.();
      forgetDenial(context); // of a task that may no longer be seen; the listening was allowed
      // Both rules for a server's end, in the one order that does not cancel a finished request.
      if (farewell) connection.notify("notifications/cancelled", { requestId: id }, { droppable: false, request: id });
      if (farewell) resolve(complete(core, context, { _meta }));
      else reject(new Error("the listening has ended"));
    };
    const cancelled = (): void => end(false);
    signal.addEventListener("abort", cancelled, { once: true });
    const wants = (kind: string, uri?: string): boolean =>
      uri === undefined ? lists.some((one) => one === kind) : uris.includes(uri);
    connection.addListen(id, { wants, end });
    const acknowledged = "notifications/subscriptions/acknowledged";
    connection.notify(acknowledged, { notifications: honoured, _meta }, { droppable: false, request: id });
    const isVisible = (task: TaskRecord): boolean | Promise<boolean> => maySee(core, context, task);
    stopWatching =
      core.tasks &&
      watchTasks(core.tasks, tasks, isVisible, (task, droppable) => {
        connection.notify("notifications/tasks", { ...task, _meta }, { droppable, request: id });
      });
  });
}

/** @throws {RpcError} -32602 */
function writeParams(params: JsonObject, maxBytes: number): string {
  const text = JSON.stringify(params);
  if (Buffer.byteLength(text) <= maxBytes) return text;
  throw new RpcError(wireErrors.invalidParams, `the parameters are over ${maxBytes} bytes`, {
    data: { limit: maxBytes },
  });
}

function listsOf<P>({ capabilities }: Core<P>, notifications: JsonObject): readonly ChangedKind[] {
  return kinds.filter((kind) => notifications[`${kind}ListChanged`] === true && kind in capabilities);
}

/** The addresses of this server's own that the principal may read; others are not honoured, whether they exist or not. */
async function readable<P>(
  core: Core<P>,
  context: RequestContext<P>,
  asked: JsonValue | undefined,
  limit: number,
): Promise<readonly string[]> {
  if (!Array.isArray(asked)) return [];
  if (asked.length > limit) throw new RpcError(wireErrors.invalidParams, `more than ${limit} resources`);
  const found: string[] = [];
  for (const uri of asked) if (typeof uri === "string") requireAddressLength(uri);
  for (const uri of asked) {
    if (typeof uri !== "string") continue;
    const resource = await findResource(core, context, uri);
    if (resource !== undefined && !("relay" in resource)) found.push(uri);
  }
  context.name = undefined;
  forgetDenial(context);
  return found;
}

const ofNoRequest: Delivery = { droppable: true, request: undefined };

/** Tells a client of a changed list, if it listens. */
export function tellListChanged(connection: ConnectionState, kind: ChangedKind): void {
  const method = `notifications/${kind}/list_changed`;
  if (connection.revision !== undefined) connection.notify(method, undefined, ofNoRequest);
  tellListeners(connection, method, kind, undefined);
}

/** Tells a client that a resource has other contents now, if it subscribed to it. */
export function tellUpdated(connection: ConnectionState, uri: string): void {
  const method = "notifications/resources/updated";
  if (connection.subscribed.has(uri)) connection.notify(method, { uri }, ofNoRequest);
  tellListeners(connection, method, "resource", uri);
}

function tellListeners(connection: ConnectionState, method: string, kind: string, uri: string | undefined): void {
  for (const [id, one] of connection.listens) {
    const rest: JsonObject = uri === undefined ? {} : { uri };
    if (!one.wants(kind, uri)) continue;
    connection.notify(method, { ...rest, _meta: { [subscriptionKey]: id } }, { droppable: true, request: id });
  }
}
