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
const prompt = { name: "p", permission: "use", handler: () => "text" };
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

  it.each([
    ["an option", { autorize: () => true }, 'options: there is no option "autorize" (did you mean "authorize"?)'],
    ["the options for tools", { tool: [] }, '(did you mean "tools"?)'],
    [
      "a tool",
      { tools: [{ ...tool, outputShema: {} }] },
      'tools[0] "one": there is no option "outputShema" (did you mean',
    ],
    [
      "a tool's annotation",
      { tools: [{ ...tool, annotations: { readonlyHint: true } }] },
      '(did you mean "readOnlyHint"?)',
    ],
    [
      "an icon",
      { tools: [{ ...tool, icons: [{ src: "data:,", size: "x" }] }] },
      'of icons[0] "size" (did you mean "sizes"?)',
    ],
    [
      "what a tool says of tasks",
      { tools: [{ ...tool, task: { support: "optional", ttl: 3 } }] },
      '(did you mean "ttlMs"?)',
    ],
    ["the tasks", { tasks: { stor: {} } }, 'tasks: there is no option "stor" (did you mean "store"?)'],
    ["the identity", { identity: { ...identity, websiteURL: "x" } }, 'identity: there is no option "websiteURL"'],
    ["a prompt", { prompts: [{ ...prompt, argument: [] }] }, '(did you mean "arguments"?)'],
    [
      "a prompt's argument",
      { prompts: [{ ...prompt, arguments: [{ name: "a", requred: true }] }] },
      '(did you mean "required"?)',
    ],
    ["a resource", { resources: [{ ...resource, mimetype: "a/b" }] }, '(did you mean "mimeType"?)'],
    [
      "a resource's annotation",
      { resources: [{ ...resource, annotations: { audiences: [] } }] },
      '(did you mean "audience"?)',
    ],
    ["a template", { resourceTemplates: [{ ...template, completes: {} }] }, '(did you mean "complete"?)'],
    ["the requestState", { requestState: { key: [] } }, '(did you mean "keys"?)'],
    ["the cache hints", { cacheHints: { ttlMs: 1, scope: "private", ttl: 1 } }, 'cacheHints: there is no option "ttl"'],
    [
      "the revisions",
      { revisions: { legacy: [], modern: ["2026-07-28"], newest: 1 } },
      'revisions: there is no option "newest"',
    ],
  ])("knows every member: one of %s that does not exist is refused", (_, options, tells) => {
    const problems = problemsOf(Object(options));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(tells);
  });

  it.each([
    ["a title", { tools: [{ ...tool, title: 5 }] }, 'tools[0] "one": title is 5; it has to be a text'],
    [
      "an annotation",
      { tools: [{ ...tool, annotations: { readOnlyHint: "yes" } }] },
      "annotations.readOnlyHint is a text; it has to be true or false",
    ],
    ["annotations", { tools: [{ ...tool, annotations: "none" }] }, "annotations is a text; it has to be an object"],
    [
      "an icon's sizes",
      { tools: [{ ...tool, icons: [{ src: "data:,", sizes: "48x48" }] }] },
      "icons[0].sizes is a text; it has to be a list",
    ],
    ["icons", { tools: [{ ...tool, icons: {} }] }, "icons is an object; it has to be a list"],
    ["a tool's _meta", { tools: [{ ...tool, _meta: 3 }] }, "_meta is 3; it has to be an object"],
    [
      "a tool's schema that was not awaited",
      { tools: [{ ...tool, outputSchema: Promise.resolve({}) }] },
      "outputSchema is a promise: await it",
    ],
    ["a tool", { tools: [null] }, "tools[0]: is no object"],
    ["the tools", { tools: { one: tool } }, "options: tools is an object; it has to be a list"],
    [
      "a prompt's arguments",
      { prompts: [{ ...prompt, arguments: { a: {} } }] },
      "arguments is an object; it has to be a list",
    ],
    [
      "a prompt's argument",
      { prompts: [{ ...prompt, arguments: ["a"] }] },
      "arguments[0] is a text; it has to be an object",
    ],
    [
      "whether it is required",
      { prompts: [{ ...prompt, arguments: [{ name: "a", required: "yes" }] }] },
      "arguments[0].required is a text",
    ],
    [
      "a completer",
      { prompts: [{ ...prompt, arguments: [{ name: "a", complete: ["x"] }] }] },
      "arguments[0].complete is a list; it has to be a function",
    ],
    [
      "a template's completers",
      { resourceTemplates: [{ ...template, complete: { id: ["x"] } }] },
      "complete is an object; it has to be an object of functions",
    ],
    [
      "a resource's name",
      { resources: [{ ...resource, name: undefined }] },
      "name is missing; it has to be a text that is not empty",
    ],
    ["a resource's address", { resources: [{ ...resource, uri: undefined }] }, "resources[0]: has no uri"],
    ["a resource's type", { resources: [{ ...resource, mimeType: 1 }] }, "mimeType is 1"],
    [
      "a resource's size",
      { resources: [{ ...resource, size: -1 }] },
      "size is -1; it has to be a whole number of bytes",
    ],
    [
      "a resource's priority",
      { resources: [{ ...resource, annotations: { priority: 2 } }] },
      "annotations.priority is 2; it has to be a number from 0 to 1",
    ],
    [
      "a resource's time",
      { resources: [{ ...resource, annotations: { lastModified: "today" } }] },
      "annotations.lastModified is a text; it has to be a time such as",
    ],
    [
      "a resource's audience",
      { resources: [{ ...resource, annotations: { audience: ["me"] } }] },
      "annotations.audience is a list",
    ],
    ["the version", { identity: { ...identity, version: 1 } }, "identity: version is 1; it has to be a text"],
    ["the identity", { identity: undefined }, "options: identity is missing; it has to be an object"],
    [
      "the website",
      { identity: { ...identity, websiteUrl: "here" } },
      "identity: websiteUrl is a text; it has to be an address",
    ],
    ["isSafeError", { isSafeError: true }, "options: isSafeError is true; it has to be a function"],
    ["observers", { observers: () => undefined }, "options: observers is a function; it has to be a list of functions"],
    ["an observer", { observers: [{}] }, "options: observers is a list; it has to be a list of functions"],
    [
      "the instrumentation",
      { instrumentation: {} },
      "options: instrumentation is an object; it has to be an instrumentation (with begin)",
    ],
    [
      "the store of tasks",
      { tasks: { store: {} } },
      "tasks: store is an object; it has to be a store of tasks (with create, read, update, remove, list)",
    ],
    [
      "a store of tasks that was not awaited",
      { tasks: { store: Promise.resolve() } },
      "tasks: store is a promise: await it",
    ],
    [
      "a tool's task without support",
      { tools: [{ ...tool, task: {} }] },
      'task.support is missing; it has to be "optional" or "required"',
    ],
    [
      "a tool's task",
      { tools: [{ ...tool, task: true }] },
      'task is true; it has to be "optional", "required" or an object',
    ],
    ["revisions as a list", { revisions: ["2025-11-25"] }, "options: revisions is a list; it has to be an object"],
    [
      "half the revisions",
      { revisions: { legacy: ["2025-11-25"] } },
      "revisions: modern is missing; it has to be a list",
    ],
    ["a revision", { revisions: { legacy: ["2025-11-26"], modern: [] } }, "revisions: 2025-11-26 is not known"],
    ["a key in hexadecimal", { requestState: { keys: ["aabb"] } }, "requestState: a key is no Uint8Array"],
    [
      "a scope",
      { cacheHints: { ttlMs: 1, scope: "all" } },
      'cacheHints: scope is a text; it has to be "public" or "private"',
    ],
  ])("refuses %s that is something else", (_, options, tells) => {
    const problems = problemsOf(Object(options));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(tells);
  });

  it("refuses to start without options", () => {
    expect(() => Reflect.apply(createMcpServer, undefined, [])).toThrow(
      "the argument is missing; it has to be an object",
    );
  });

  it("leaves _meta and schemas alone", () => {
    const _meta = { anything: { at: "all" } };
    const inputSchema = { type: "object", "x-mine": 1 };
    expect(problemsOf({ tools: [{ ...tool, _meta, inputSchema }], resources: [{ ...resource, _meta }] })).toEqual([]);
  });

  it("tells what else is wrong with a tool that has no name", () => {
    const problems = problemsOf(Object({ tools: [{}] }));
    expect(problems).toEqual([
      "tools[0]: names no permission",
      "tools[0]: has no name",
      "tools[0]: has no description",
      "tools[0]: has no handler",
      "tools[0]: inputSchema is not a schema",
    ]);
  });

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
