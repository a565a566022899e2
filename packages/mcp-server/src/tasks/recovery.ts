import { wireErrors } from "@berth/jsonrpc-framing";
import { wireError } from "../server/answer.js";
import type { KnownTasks } from "./known.js";
import { expiresAt } from "./record.js";
import { nextRecord } from "./state.js";
import type { TaskStore } from "./store.js";

/**
 * Takes over the tasks that a store holds from before. No handler of theirs runs any more: what had not ended has failed, and says so, so that nobody waits for
 * it. May be done again after it was interrupted anywhere.
 */
export async function recoverTasks(store: TaskStore, known: KnownTasks, now: () => number): Promise<void> {
  const error = wireError(wireErrors.internal, "the server was restarted while the task ran");
  for await (const record of store.list()) {
    const dead = nextRecord(record, { kind: "fail", error, statusMessage: "The server was restarted" }, now());
    if (dead !== undefined && !(await store.update(dead, record.version))) {
      throw new Error("somebody else writes to this store of tasks");
    }
    if (!known.has(record.taskId)) known.add(record.taskId, record.owner, expiresAt(record));
  }
}
