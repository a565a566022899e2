export type { ContractCheck, ContractLimits } from "./contracts/check.js";
export {
  type EventStoreContractOptions,
  eventStoreContract,
  type OpenedEventStore,
} from "./contracts/events/contract.js";
export { type OpenedTaskStore, type TaskStoreContractOptions, taskStoreContract } from "./contracts/tasks/contract.js";
export type { EventStore, StreamEvent } from "./http/legacy/event-store.js";
export type { TaskRecord, TaskStatus } from "./tasks/record.js";
export type { TaskStore } from "./tasks/store.js";
