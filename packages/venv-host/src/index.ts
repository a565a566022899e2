export type { Confine, ConfinedCommand, ConfinePolicy } from "./confine.js";
export type * from "./environments/environment-store.js";
export type * from "./environments/evidence.js";
export { openEnvironmentStore } from "./environments/open-environment-store.js";
export type { VenvHostErrorCode, VenvHostErrorDetails } from "./errors.js";
export { isVenvHostError, VenvHostError } from "./errors.js";
export type * from "./installed/installed-environment.js";
export { openWorker } from "./worker/open-worker.js";
export type * from "./worker/worker.js";
