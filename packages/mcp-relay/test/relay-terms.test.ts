import { describe, expect, it } from "vitest";
import type { RelayOptions, ServerPolicy } from "../src/index.js";
import { readRelayTerms } from "../src/relay-terms.js";
import { createDirectTransport } from "./support/direct-transport.js";
import { pinsOf } from "./support/pins.js";
import { tool } from "./support/scripted-server.js";

const read = (servers: readonly ServerPolicy[], more: Partial<RelayOptions> = {}) =>
  readRelayTerms({
    downstream: createDirectTransport(),
    servers,
    openUpstream: () => Promise.reject(new Error("not here")),
    record: () => undefined,
    serverInfo: { name: "x", version: "0" },
    ...more,
  });

describe("options of a session", () => {
  it("have the defaults that the README names", () => {
    const terms = read([{ name: "a" }]);
    expect(terms).toMatchObject({
      names: "prefixed",
      observe: false,
      showUnpinned: true,
      passThroughInitialize: false,
    });
    expect(terms.limits).toEqual({
      maxPendingCalls: 1_024,
      maxPendingBytes: 67_108_864,
      maxServerRequests: 256,
      maxListPages: 100,
      maxListBytes: 16_777_216,
      interceptMs: 300_000,
      maxHeldBytes: 67_108_864,
      pauseAboveBytes: 8_388_608,
    });
    expect(terms.servers[0]).toMatchObject({
      onBadLine: "fatal",
      waits: { startMs: 30_000, listMs: 15_000, callMs: 300_000, callMaxMs: 3_600_000 },
    });
  });

  it.each([
    { name: "no server", servers: [], text: "at least one server" },
    { name: "a wait of nothing", servers: [{ name: "a", deadlines: { callMs: 0 } }], text: "a.deadlines.callMs" },
    { name: "a fraction", servers: [{ name: "a", deadlines: { startMs: 1.5 } }], text: "a.deadlines.startMs" },
    { name: "no number", servers: [{ name: "a", deadlines: { listMs: Number.NaN } }], text: "a.deadlines.listMs" },
    {
      name: "pinned capabilities that are no object",
      servers: [{ name: "a", pinnedInitialize: { capabilities: "[]" } }],
      text: "capabilities",
    },
    {
      name: "pinned server information that is no JSON",
      servers: [{ name: "a", pinnedInitialize: { serverInfo: "{" } }],
      text: "serverInfo",
    },
    {
      name: "a pin under another name than its own",
      servers: [
        { name: "a", tools: { pinned: { other: pinsOf([tool("x")])["x"] ?? { digest: "", definition: "" } } } },
      ],
      text: '"other"',
    },
    {
      name: "a pin that is no JSON",
      servers: [{ name: "a", tools: { pinnedPrompts: { p: { digest: "", definition: "p" } } } }],
      text: '"p"',
    },
  ])("are refused before anything starts: $name", ({ servers, text }) => {
    expect(() => read(servers)).toThrow(
      expect.objectContaining({ code: "OPTIONS_INVALID", message: expect.stringContaining(text) }),
    );
  });

  it("refuse limits out of their range", () => {
    expect(() => read([{ name: "a" }], { limits: { maxPendingCalls: 70_000 } })).toThrow("limits.maxPendingCalls");
  });
});
