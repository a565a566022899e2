import { readMember, readString, type Span } from "@berth/jsonrpc-framing";
import type { CallInterception } from "../interception.js";
import { isLong } from "./id-length.js";

/** Most tasks that are remembered of one server; its oldest is forgotten first. */
const maxTasks = 4_096;

/**
 * Which server a task belongs to (MCP 2025-11-25, Tasks): learned from the answers in which tasks are created. A task stays with the server
 * that named it first, and no server can make another's be forgotten. Ids that are longer than is kept are not remembered.
 */
export interface TaskOwners {
  /** Remembers the task of a result that created one, and what looks into its outcome; false when it did not. */
  learn(server: string, frame: Uint8Array, result: Span | undefined, looked?: LookedInto): boolean;
  /** What looks into the outcome of a task; `unknown` when no call of this session is known to have created it. */
  looked(taskId: string): LookedInto | undefined | "unknown";
  note(server: string, taskId: string): void;
  owner(taskId: string): string | undefined;
}

/** What looks into an answer. */
export type LookedInto = Pick<CallInterception, "mark" | "after">;

/** No task known yet. */
export function createTaskOwners(): TaskOwners {
  const owners = new Map<string, string>();
  const looked = new Map<string, LookedInto | undefined>();
  const tasksOf = new Map<string, Set<string>>();

  const setOf = (server: string): Set<string> => {
    const tasks = tasksOf.get(server) ?? new Set();
    tasksOf.set(server, tasks);
    return tasks;
  };
  const forgetOldest = (tasks: Set<string>): void => {
    for (const oldest of tasks) {
      tasks.delete(oldest);
      owners.delete(oldest);
      looked.delete(oldest);
      return;
    }
  };
  const note = (server: string, taskId: string): void => {
    if ((owners.get(taskId) ?? server) !== server) return;
    const tasks = setOf(server);
    tasks.delete(taskId); // So that it is the youngest.
    tasks.add(taskId);
    owners.set(taskId, server);
    if (tasks.size > maxTasks) forgetOldest(tasks);
  };

  return {
    note,
    owner: (taskId) => owners.get(taskId),
    looked: (taskId) => (looked.has(taskId) ? looked.get(taskId) : "unknown"),
    learn(server, frame, result, into) {
      const span = result && readMember(frame, result, ["task", "taskId"]);
      if (span === undefined || isLong(span)) return false;
      const taskId = readString(frame, span);
      if (taskId === undefined) return false;
      note(server, taskId);
      // A server that gives an id twice cannot take what looks into it away.
      if (owners.get(taskId) === server && looked.get(taskId)?.after === undefined) looked.set(taskId, into);
      return true;
    },
  };
}
