export { isTaskStoreError, TaskStoreError, type TaskStoreErrorCode } from "./errors.js";
export type { JsonRpcError } from "./server/answer.js";
export { createMemoryTaskStore, type MemoryTaskStoreOptions } from "./tasks/memory-store.js";
export type { TaskRecord, TaskStatus } from "./tasks/record.js";
export type { TaskStore } from "./tasks/store.js";
