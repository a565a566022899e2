export { createOpenTelemetry, type OpenTelemetryOptions } from "./opentelemetry/instrumentation.js";
