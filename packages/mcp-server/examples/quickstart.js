import { decideEra, isEraError, legacyRevisions, mcpErrors, negotiateRevision } from "@berth/mcp-server";

// The revision that an `initialize` is answered with.
console.log(negotiateRevision("2025-06-18"), negotiateRevision("2026-07-28"));

// By which era's rules a request is read, at a server that speaks the older revisions only.
const served = { legacy: legacyRevisions, modern: [] };
console.log(decideEra({ method: "tools/list", initialized: true }, served).era);
try {
  decideEra({ method: "tools/list", metaVersion: "2026-07-28", initialized: false }, served);
} catch (error) {
  if (!isEraError(error)) throw error;
  console.log(error.wire.code === mcpErrors.unsupportedProtocolVersion, error.wire.data);
}
