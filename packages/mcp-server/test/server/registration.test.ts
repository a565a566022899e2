import { describe, expect, it } from "vitest";
import { createMcpServer, type McpServerOptions, RegistrationError, type ToolDefinition } from "../../src/index.js";

const identity = { name: "sample", version: "1.0.0" };
const tool: ToolDefinition<string> = {
  name: "one",
  description: "a tool",
  inputSchema: { type: "object" },
  permission: "use",
  handler: () => "done",
};
const resource = { uri: "note:///1", name: "note", permission: "use", read: () => "text" };
const template = { uriTemplate: "note:///{id}", name: "notes", permission: "use", read: () => "text" };

function problemsOf(options: Partial<McpServerOptions<string>>): readonly string[] {
  try {
    createMcpServer<string>({ identity, ...options });
  } catch (error) {
    if (!(error instanceof RegistrationError)) throw error;
    expect(error.code).toBe("REGISTRATION_INVALID");
    return error.problems.map(({ where, message }) => `${where}: ${message}`);
  }
  return [];
}

describe("createMcpServer", () => {
  it("takes what is right", () => {
    expect(problemsOf({ tools: [tool], resources: [resource], resourceTemplates: [template] })).toEqual([]);
  });

  it.each([
    { name: "two tools of one name", options: { tools: [tool, tool] }, tells: "registered twice" },
    { name: "a name with a space", options: { tools: [{ ...tool, name: "a b" }] }, tells: "a tool's name is" },
    { name: "a name of 129 characters", options: { tools: [{ ...tool, name: "a".repeat(129) }] }, tells: "1 to 128" },
    { name: "no permission", options: { tools: [{ ...tool, permission: "" }] }, tells: "names no permission" },
    { name: "no description", options: { tools: [{ ...tool, description: "" }] }, tells: "no description" },
    { name: "a root that is no object", options: { tools: [{ ...tool, inputSchema: {} }] }, tells: '"type": "object"' },
    {
      name: "a schema that is invalid",
      options: { tools: [{ ...tool, inputSchema: { type: "object", required: 3 } }] },
      tells: "inputSchema:",
    },
    {
      name: "a reference to another document",
      options: { tools: [{ ...tool, inputSchema: { type: "object", $ref: "https://example.org/schema" } }] },
      tells: "inputSchema:",
    },
    {
      name: "an icon over http",
      options: { tools: [{ ...tool, icons: [{ src: "http://example.org/x.png" }] }] },
      tells: "icon",
    },
    { name: "a relative address", options: { resources: [{ ...resource, uri: "note" }] }, tells: "not absolute" },
    {
      name: "a template without variable",
      options: { resourceTemplates: [{ ...template, uriTemplate: "note:///x" }] },
      tells: "no variable",
    },
    {
      name: "variables that touch",
      options: { resourceTemplates: [{ ...template, uriTemplate: "note:///{a}{b}" }] },
      tells: "text is needed",
    },
    {
      name: "an operator that has two readings",
      options: { resourceTemplates: [{ ...template, uriTemplate: "note:///{?a}" }] },
      tells: "neither",
    },
    { name: "a limit out of range", options: { limits: { pageSize: 0 } }, tells: "pageSize is 0" },
    {
      name: "a limit that is a member of every object",
      options: { limits: Object({ constructor: 1 }) },
      tells: 'no limit "constructor"',
    },
    { name: "a schema limit out of range", options: { schemaLimits: { maxDepth: 0 } }, tells: "maxDepth is 0" },
    { name: "no revision", options: { revisions: { legacy: [], modern: [] } }, tells: "none is served" },
    { name: "a short key", options: { requestState: { keys: [new Uint8Array(16)] } }, tells: "32 are needed" },
    { name: "a time of half a millisecond", options: { cacheHints: { ttlMs: 0.5, scope: "private" } }, tells: "ttlMs" },
  ] satisfies { name: string; options: Partial<McpServerOptions<string>>; tells: string }[])(
    "refuses $name",
    ({ options, tells }) => {
      const problems = problemsOf(options);
      expect(problems).toHaveLength(1);
      expect(problems[0]).toContain(tells);
    },
  );

  it("tells everything that is wrong at once", () => {
    const bad: ToolDefinition<string> = { ...tool, name: "?", permission: "", description: "" };
    const problems = problemsOf({ tools: [tool, bad], limits: { pageSize: -1 }, identity: { name: "", version: "" } });
    expect(problems).toHaveLength(6);
    expect(problems.filter((problem) => problem.startsWith('tools[1] "?"'))).toHaveLength(3);
  });

  it.each([
    {
      name: "a name that is no token",
      property: { type: "string", "x-mcp-header": "a b" },
      tells: "not a header name",
    },
    { name: "a number", property: { type: "number", "x-mcp-header": "N" }, tells: "no integer" },
    {
      name: "one inside an array",
      property: { type: "array", items: { type: "string", "x-mcp-header": "N" } },
      tells: "not reached",
    },
  ])("refuses x-mcp-header on $name", ({ property, tells }) => {
    const inputSchema = { type: "object", properties: { a: property } };
    expect(problemsOf({ tools: [{ ...tool, inputSchema }] }).join()).toContain(tells);
  });

  it("refuses an x-mcp-header that occurs twice, whatever its case, and takes good ones at any depth of properties", () => {
    const header = (name: string): { type: string; "x-mcp-header": string } => ({
      type: "string",
      "x-mcp-header": name,
    });
    const twice = { type: "object", properties: { a: header("Region"), b: header("region") } };
    expect(problemsOf({ tools: [{ ...tool, inputSchema: twice }] }).join()).toContain("occurs twice");
    const good = {
      type: "object",
      properties: { a: header("A"), b: { type: "object", properties: { c: header("C") } } },
    };
    expect(problemsOf({ tools: [{ ...tool, inputSchema: good }] })).toEqual([]);
  });
});
