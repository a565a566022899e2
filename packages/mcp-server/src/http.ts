export type { Admission, AdmissionRefusal, Admitter, RequestHead } from "./http/admission.js";
export { createHttpHandler, type HttpHandler } from "./http/handler.js";
export type { EventStore, StreamEvent } from "./http/legacy/event-store.js";
export type { SessionLimits } from "./http/legacy/limits.js";
export {
  createMemoryEventStore,
  type MemoryEventStore,
  type MemoryEventStoreLimits,
} from "./http/legacy/memory-event-store.js";
export type { SessionOptions } from "./http/legacy/options.js";
export type { HttpServerLimits, ListeningLimits } from "./http/limits.js";
export type { HttpHandlerOptions, HttpHandlerSettings, Identification } from "./http/options.js";
export type { OriginRules } from "./http/origin.js";
export { type HttpServer, type ListeningOptions, type ServeHttpOptions, serveHttp } from "./http/serve-http.js";
