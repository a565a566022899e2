import { describe, expect, it } from "vitest";
import { readCatalog } from "../src/catalog-read.js";
import { importClientConfig } from "../src/import/import.js";
import { toolListDigest } from "../src/import/tool-list-canonical.js";

const definition = { description: "x", input_schema: { type: "object" }, output_schema: null };
const entry = (changes: Record<string, unknown>) => ({
  tool_name: "read",
  server: { display_name: "Files", transport: "stdio", spawn: { command: "python3", args: ["/opt/files.py"] } },
  approved_definition: definition,
  definition_hash: toolListDigest(JSON.stringify(definition)),
  ...changes,
});
const importOne = (changes: Record<string, unknown>) => importClientConfig(JSON.stringify([entry(changes)]), "x.json");

/** Terms of another gateway's catalog that mean nothing here, whatever their value. */
const foreignTerms = [
  { name: "a built-in sensitivity", key: "sensitivity_level", value: "hipaa_phi" },
  { name: "a sensitivity in other case", key: "sensitivity_level", value: "PII" },
  { name: "a sensitivity that somebody defined", key: "sensitivity_level", value: "level-9" },
  { name: "a compliance domain", key: "compliance_domain", value: "pci_data" },
  { name: "a contract that is required", key: "requires_baa", value: true },
  { name: "an exception from the catalog", key: "catalog_exception", value: true },
  { name: "who approved it", key: "approved_by", value: "someone" },
] as const;

describe("terms of another gateway that have no counterpart", () => {
  it.each(foreignTerms)("are refused in a catalog, not passed over: $name", ({ key, value }) => {
    const server = { transport: "stdio", spawn: { command: "x" }, [key]: value };
    const reading = readCatalog(JSON.stringify({ version: 1, servers: { files: server } }));
    expect(reading.ok ? [] : reading.problems).toMatchObject([
      { path: `servers.files.${key}`, message: expect.stringContaining("unknown key") },
    ]);
  });

  it.each(foreignTerms)("change nothing of what is imported, and the report says so: $name", async ({ key, value }) => {
    const [plain, given] = [await importOne({}), await importOne({ [key]: value })];
    expect(given.servers[0]?.server).toEqual(plain.servers[0]?.server);
    expect(given.servers[0]?.server).toBeDefined();
    expect(given.notes).toMatchObject([
      {
        code: "KEY_NOT_TAKEN",
        message: expect.stringMatching(/sensitivity, compliance and approval .* no counterpart/u),
      },
    ]);
  });
});
