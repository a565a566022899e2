// A durable store of tasks as an application would write it: one JSON file a task, replaced by an atomic rename, on disk before a call returns.
// The program that is killed runs it too, with Node's own stripping of types.
import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { TaskRecord, TaskStore } from "../../src/tasks.js";

export async function openFileTaskStore(folder: string): Promise<TaskStore> {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) if (name.endsWith(".tmp")) await rm(join(folder, name));
  const fileOf = (taskId: string): string => join(folder, `${createHash("sha256").update(taskId).digest("hex")}.json`);
  const readFileOf = async (file: string): Promise<TaskRecord | undefined> => {
    try {
      return JSON.parse(await readFile(file, "utf8"));
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw error;
    }
  };
  const syncFolder = async (): Promise<void> => {
    const handle = await open(folder, "r");
    await handle.sync();
    await handle.close();
  };
  const write = async (record: TaskRecord): Promise<void> => {
    const file = fileOf(record.taskId);
    const scratch = `${file}.${randomUUID()}.tmp`;
    const handle = await open(scratch, "wx", 0o600);
    await handle.writeFile(JSON.stringify(record));
    await handle.sync();
    await handle.close();
    await rename(scratch, file);
    await syncFolder();
  };
  // One writer at a time: what is compared is still there when it is replaced.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
  return {
    create: (record) => {
      const text = JSON.stringify(record);
      return inTurn(async () => {
        if ((await readFileOf(fileOf(record.taskId))) !== undefined) {
          throw Object.assign(new Error("there is a task with this id"), {
            name: "TaskStoreError",
            code: "TASK_EXISTS",
          });
        }
        await write(JSON.parse(text));
      });
    },
    read: (taskId) => readFileOf(fileOf(taskId)),
    update: (record, expectedVersion) =>
      inTurn(async () => {
        const old = await readFileOf(fileOf(record.taskId));
        if (old?.version !== expectedVersion) return false;
        await write(record);
        return true;
      }),
    remove: (taskId) =>
      inTurn(async () => {
        await rm(fileOf(taskId), { force: true });
        await syncFolder();
      }),
    async *list() {
      for (const name of await readdir(folder)) {
        const record = name.endsWith(".json") ? await readFileOf(join(folder, name)) : undefined;
        if (record !== undefined) yield record;
      }
    },
  };
}
