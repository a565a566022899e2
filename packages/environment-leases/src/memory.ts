export type { MemoryCall, MemoryProgram } from "./memory/programs.js";
export type { MemoryProvider, MemoryProviderOptions, MemoryStep } from "./memory/provider.js";
export { createMemoryProvider } from "./memory/provider.js";
export type { MemoryWorker, MemoryWorld } from "./memory/world.js";
export { createMemoryWorld } from "./memory/world.js";
