import { expect, it } from "vitest";
import { capabilitiesKey, checkMcpRequest, versionKey } from "../../src/pipe/gate.js";

const good = { [versionKey]: "2026-07-28", [capabilitiesKey]: {} };
const unsupported = (requested: string) => ({
  code: -32022,
  message: "Unsupported protocol version",
  data: { supported: ["2026-07-28"], requested },
});
const noMeta = expect.objectContaining({
  code: -32602,
  message: expect.stringMatching(/^params\._meta is missing or not an object/),
});
const noVersion = { code: -32602, message: `params._meta["${versionKey}"] is missing or not a string` };
const noCapabilities = { code: -32602, message: `params._meta["${capabilitiesKey}"] is missing or not an object` };

it.each([
  { name: "both keys", params: { _meta: good }, wire: undefined },
  {
    name: "capabilities with content",
    params: { _meta: { ...good, [capabilitiesKey]: { sampling: {} } } },
    wire: undefined,
  },
  { name: "no params", params: undefined, wire: noMeta },
  { name: "params as a list", params: [good], wire: noMeta },
  { name: "no _meta", params: {}, wire: noMeta },
  { name: "_meta null", params: { _meta: null }, wire: noMeta },
  { name: "_meta a list", params: { _meta: [] }, wire: noMeta },
  { name: "_meta a text", params: { _meta: "x" }, wire: noMeta },
  { name: "no version", params: { _meta: { [capabilitiesKey]: {} } }, wire: noVersion },
  { name: "the version no text", params: { _meta: { ...good, [versionKey]: 20260728 } }, wire: noVersion },
  {
    name: "a version of another time comes after the capabilities",
    params: { _meta: { [versionKey]: "1999-01-01" } },
    wire: noCapabilities,
  },
  { name: "no capabilities", params: { _meta: { [versionKey]: "2026-07-28" } }, wire: noCapabilities },
  { name: "the capabilities a list", params: { _meta: { ...good, [capabilitiesKey]: [] } }, wire: noCapabilities },
  { name: "the capabilities null", params: { _meta: { ...good, [capabilitiesKey]: null } }, wire: noCapabilities },
  {
    name: "another version",
    params: { _meta: { ...good, [versionKey]: "1999-01-01" } },
    wire: unsupported("1999-01-01"),
  },
  {
    name: "an older version",
    params: { _meta: { ...good, [versionKey]: "2025-11-25" } },
    wire: unsupported("2025-11-25"),
  },
])("$name", ({ params, wire }) => {
  expect(checkMcpRequest("tools/list", params)).toEqual(wire);
});

it.each([
  {
    name: "the version that it asks for is told",
    params: { _meta: good, protocolVersion: "2025-11-25" },
    wire: unsupported("2025-11-25"),
  },
  { name: "without one, that of _meta", params: { _meta: good }, wire: unsupported("2026-07-28") },
  { name: "without the keys it is as any other", params: { protocolVersion: "2025-11-25" }, wire: noMeta },
])("initialize is never sent: $name", ({ params, wire }) => {
  expect(checkMcpRequest("initialize", params)).toEqual(wire);
});

it("keys of a prototype are none", () => {
  expect(checkMcpRequest("tools/list", { _meta: Object.create(good) })).toEqual(noVersion);
});
