import type { TaskRecord } from "./record.js";

/**
 * Where tasks are kept. It belongs to one server at a time: a server that starts declares every unfinished task of its store dead. Who opens a store
 * closes it, after the server's `close`. `taskStoreContract` of `@berth/mcp-server/contracts` checks one.
 *
 * A store is durable when what it has acknowledged is there again after the process was killed at any moment. Then, by the step at which it dies:
 * before `create` resolved: the client never got the task; it may be there, `failed`, until its time is over.
 * After it, before an end was stored: `tasks/get` says `failed` (-32603, "the server was restarted"), also when the tool had done its work.
 * Before `update` resolved with an end: either that end or `failed`. After it: that end, until `ttlMs` is over.
 * Before `remove` resolved: it is removed at the next start.
 */
export interface TaskStore {
  /** Keeps a new task. It can be read once this has resolved. Rejects with `TASK_EXISTS`, or with `TASK_STORE_FULL` when there is no room. */
  create(record: TaskRecord): Promise<void>;
  /** The task as it was last stored; undefined when there is none. */
  read(taskId: string): Promise<TaskRecord | undefined>;
  /**
   * Replaces a task, if the one that is there has this version (compare and set). False, with nothing changed, when it has another or is not there:
   * then somebody else has written. Rejects with `TASK_STORE_FULL` when there is no room, with nothing changed.
   */
  update(record: TaskRecord, expectedVersion: number): Promise<boolean>;
  /** Forgets a task. Nothing happens when there is none. */
  remove(taskId: string): Promise<void>;
  /** Every task that is there, in any order. Asked once, at the start of a server. */
  list(): AsyncIterable<TaskRecord>;
}
