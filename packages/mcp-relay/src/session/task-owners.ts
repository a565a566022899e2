import { readMember, readString, type Span } from "@berth/jsonrpc-framing";

/** Most tasks whose server is remembered; the oldest is forgotten first. */
const maxTasks = 4_096;

/** Which server a task belongs to (MCP 2025-11-25, Tasks): learned from the answers in which tasks are created. */
export interface TaskOwners {
  /** Remembers the task of a result that created one, if it did. */
  learn(server: string, frame: Uint8Array, result: Span | undefined): boolean;
  note(server: string, taskId: string): void;
  owner(taskId: string): string | undefined;
}

/** No task known yet. */
export function createTaskOwners(): TaskOwners {
  const owners = new Map<string, string>();
  const note = (server: string, taskId: string): void => {
    owners.delete(taskId);
    owners.set(taskId, server);
    if (owners.size <= maxTasks) return;
    for (const oldest of owners.keys()) {
      owners.delete(oldest);
      break;
    }
  };
  return {
    note,
    owner: (taskId) => owners.get(taskId),
    learn(server, frame, result) {
      const span = result && readMember(frame, result, ["task", "taskId"]);
      const taskId = span && readString(frame, span);
      if (taskId === undefined) return false;
      note(server, taskId);
      return true;
    },
  };
}
