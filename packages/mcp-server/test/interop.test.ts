import { LATEST_PROTOCOL_VERSION, SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { legacyRevisions, mcpErrors, modernRevisions } from "../src/protocol.js";

describe("against the official SDKs", () => {
  it("the newest legacy revision is that of SDK 1.x, and it speaks every one of ours", () => {
    expect(legacyRevisions[0]).toBe(LATEST_PROTOCOL_VERSION);
    for (const revision of legacyRevisions) expect(SUPPORTED_PROTOCOL_VERSIONS).toContain(revision);
    for (const revision of modernRevisions) expect(SUPPORTED_PROTOCOL_VERSIONS).not.toContain(revision);
  });

  it("the numbers of MCP's own errors are those of SDK 2.x, where it names them", async () => {
    const { ProtocolErrorCode } = await import("@modelcontextprotocol/client");
    const theirs: Readonly<Record<string, unknown>> = { ...ProtocolErrorCode };
    expect(theirs["UnsupportedProtocolVersion"]).toBe(mcpErrors.unsupportedProtocolVersion);
    expect(theirs["MissingRequiredClientCapability"]).toBe(mcpErrors.missingRequiredClientCapability);
    expect(theirs["UrlElicitationRequired"]).toBe(mcpErrors.urlElicitationRequired);
    expect(theirs["ResourceNotFound"]).toBe(mcpErrors.resourceNotFound);
  });
});
