import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { type PluginProcess, startPlugin } from "./plugin-process.js";
import {
  call,
  fault,
  mcp,
  protocolRows,
  request,
  result,
  type Step,
  stamped,
  stepsTo,
  texted,
} from "./protocol-table.js";

const folder = fileURLToPath(new URL("./kits/", import.meta.url));
const capabilities = { mcp: true, health: true, hooks: ["agent_pre_invoke", "tool_pre_invoke"] };
const health = { status: "degraded", detail: "as it should be" };
const subject = { name: "kit", version: "1.2.3", capabilities, health };

const kits = [
  { kit: "TypeScript", test: it, start: () => startPlugin(process.execPath, ["kit-plugin.mjs"], folder) },
  {
    kit: "TypeScript with a descriptor of its own",
    test: it,
    start: () => startPlugin("/bin/sh", ["-c", `exec "$0" kit-plugin.mjs 3 3>&1 1>&2`, process.execPath], folder),
  },
  {
    kit: "Python",
    test: partTest("python3"),
    start: () => startPlugin("/usr/bin/env", ["python3", "-B", "kit_plugin.py"], folder),
  },
] as const;

async function run(plugin: PluginProcess, steps: readonly Step[]): Promise<void> {
  for (const [send, answer] of steps) {
    plugin.send(send);
    if (answer !== undefined) expect(await plugin.next()).toEqual(answer);
  }
}

describe.each(kits)("a plugin of the kit for $kit", ({ test, start }) => {
  for (const { name, state, steps } of protocolRows)
    test(`${name} (${state})`, async () => {
      await using plugin = start();
      await run(plugin, [...stepsTo(state, subject), ...steps(subject)]);
      expect(await plugin.end()).toEqual({ rest: [], code: 0 });
    });

  const running = (plugin: PluginProcess): Promise<void> => run(plugin, stepsTo("running", subject));
  const tool = (id: number, name: string, input: object, value: object): Step => [
    call(id, name, input),
    result(id, value),
  ];

  /** Returns when the tool has its turn: what comes then finds it working. */
  const begin = async (plugin: PluginProcess, name: string): Promise<void> => {
    await running(plugin);
    plugin.send(call(1, name, {}));
    expect(await plugin.next()).toMatchObject({ params: { message: "begun" } });
  };

  test("tells what it has: its tools that are listed, in their order, and its instructions", async () => {
    await using plugin = start();
    await running(plugin);
    plugin.send(mcp(1, "server/discover"));
    expect(await plugin.next()).toEqual(
      result(
        1,
        stamped(subject, {
          ...{ ttlMs: 0, cacheScope: "public", supportedVersions: ["2026-07-28"], instructions: "For tests." },
          capabilities: { tools: { listChanged: false } },
        }),
      ),
    );
    plugin.send(mcp(2, "tools/list"));
    expect(await plugin.next()).toMatchObject({
      result: {
        ...{ ttlMs: 0, cacheScope: "public" },
        tools: [
          { name: "echo", description: "Gives back its text.", inputSchema: { type: "object", required: ["text"] } },
          { name: "fails" },
          { name: "logs" },
        ],
      },
    });
  });

  test("what its own code prints goes to stderr, never into the protocol", async () => {
    await using plugin = start();
    await running(plugin);
    await run(plugin, [tool(1, "noise", {}, texted(subject, "printed"))]);
    expect(await plugin.end()).toEqual({ rest: [], code: 0 });
    expect(plugin.stderr()).toContain("noise");
  });

  test("what a tool throws is told to the operator, and not to the caller", async () => {
    await using plugin = start();
    await running(plugin);
    plugin.send(call(1, "fails", {}));
    expect(await plugin.next()).toMatchObject({
      ...{ method: "ave/instance/log" },
      params: { level: "error", message: expect.stringContaining("a secret text") },
    });
    expect(await plugin.next()).toEqual(result(1, texted(subject, "Tool failed: fails", true)));
  });

  test("an object is structured content, and the same as JSON with its keys in order; MCP's own result passes", async () => {
    await using plugin = start();
    await running(plugin);
    const value = { b: "✓", a: [{ d: 1, c: null }] };
    const content = [{ type: "text", text: '{"a":[{"c":null,"d":1}],"b":"✓"}' }];
    await run(plugin, [
      tool(1, "structured", {}, stamped(subject, { content, structuredContent: value, isError: false })),
    ]);
    plugin.send(call(2, "content", {}));
    expect(await plugin.next()).toMatchObject({
      result: {
        ...{ content: [], isError: true },
        _meta: { "example.com/x": 1, "io.modelcontextprotocol/serverInfo": { name: "kit", version: "1.2.3" } },
      },
    });
  });

  for (const { what, name, input } of [
    { what: "over the limit that the host said", name: "large", input: { size: 4_194_304 } },
    { what: "deeper than 128 levels", name: "deep", input: { size: 130 } },
    { what: "no JSON", name: "no_json", input: {} },
  ])
    test(`an answer that is ${what} is -32603, since it would end the plugin`, async () => {
      await using plugin = start();
      await running(plugin);
      plugin.send(call(1, name, input));
      expect(await plugin.next()).toMatchObject({ method: "ave/instance/log", params: { level: "error" } });
      expect(await plugin.next()).toEqual(fault(1, -32603, "Internal error"));
      await run(plugin, [tool(2, "echo", { text: "x" }, texted(subject, "x"))]);
    });

  test("a line over the limit is -32700, and what follows it is read", async () => {
    await using plugin = start();
    await running(plugin);
    plugin.send(Buffer.alloc(4_194_305, "x"));
    expect(await plugin.next()).toEqual(fault(null, -32700, "Parse error"));
    await run(plugin, [tool(2, "echo", { text: "x" }, texted(subject, "x"))]);
  });

  test("a message of the log is cut at 8 KiB, between characters", async () => {
    await using plugin = start();
    await running(plugin);
    plugin.send(call(1, "logs", { text: "✓".repeat(4_000) }));
    const message = await plugin.next();
    expect(message).toMatchObject({ method: "ave/instance/log", params: { level: "warn" } });
    expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThan(8_192 * 2 + 200);
    expect(JSON.stringify(message)).not.toContain("\ufffd");
    expect(await plugin.next()).toEqual(result(1, texted(subject, "logged")));
  });

  test("requests are answered in their order, but health comes before calls that wait", async () => {
    await using plugin = start();
    await begin(plugin, "waits");
    plugin.send(call(2, "echo", { text: "second" }));
    plugin.send(request(3, "ave/instance/health"));
    plugin.send(call(4, "echo", { text: "gone" }));
    plugin.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 4 } });
    plugin.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    expect(await plugin.next()).toEqual(result(3, health));
    expect(await plugin.next()).toEqual(result(2, texted(subject, "second")));
    expect(await plugin.end()).toEqual({ rest: [], code: 0 });
  });

  for (const name of ["waits", "never"])
    test(`stop gives up a call that ${name} after half of its deadline, and refuses those that wait`, async () => {
      await using plugin = start();
      await begin(plugin, name);
      plugin.send(call(2, "echo", { text: "x" }));
      plugin.send(request(3, "ave/instance/stop", { deadlineMs: 400 }));
      expect(await plugin.next()).toEqual(fault(1, -31001, "not running"));
      expect(await plugin.next()).toEqual(result(3, {}));
      expect(await plugin.next()).toEqual(fault(2, -31001, "not running"));
      await run(plugin, [[request(4, "ave/instance/destroy"), result(4, {})]]);
      expect(await plugin.next()).toBeUndefined();
    });

  test("after destroy it exits by itself, while its input is open", async () => {
    await using plugin = start();
    await run(plugin, [...stepsTo("stopped", subject), [request(1, "ave/instance/destroy"), result(1, {})]]);
    expect(await plugin.next()).toBeUndefined();
    expect(await plugin.end()).toEqual({ rest: [], code: 0 });
  });

  test("at the end of its input it exits, also within a call that does not end", async () => {
    await using plugin = start();
    await begin(plugin, "never");
    expect(await plugin.end()).toEqual({ rest: [], code: 0 });
  });

  test("what came before the end of its input is answered", async () => {
    await using plugin = start();
    const steps = stepsTo("running", subject);
    for (const [send] of steps) plugin.send(send);
    expect(await plugin.end()).toEqual({ rest: steps.map(([, answer]) => answer), code: 0 });
  });

  test("hooks are asked with all that CPEX gives, and answer a result", async () => {
    await using plugin = start();
    await running(plugin);
    const asked = { hook_type: "tool_pre_invoke", payload: { name: "x" }, context: { request_id: "r" } };
    const hook = (id: number, more: object): object => request(id, "ave/hook/invoke", { ...asked, ...more });
    const violation = { payload: { name: "x" }, context: { request_id: "r" }, given: [{ a: 1 }, "credential"] };
    await run(plugin, [
      [
        hook(1, { extensions: { a: 1 }, credential: "credential" }),
        result(1, { continue_processing: false, violation }),
      ],
      [hook(2, { payload: { passes: true } }), result(2, { continue_processing: true })],
      [hook(3, { hook_type: "no_such_hook" }), fault(3, -32602, "Unknown hook: no_such_hook")],
      [hook(4, { hook_type: "toString" }), fault(4, -32602, "Unknown hook: toString")],
      [hook(5, { payload: [] }), fault(5, -32602, "params.payload is missing or not an object")],
      [hook(6, { context: undefined }), fault(6, -32602, "params.context is missing or not an object")],
    ]);
    plugin.send(hook(7, { payload: { fails: true } }));
    expect(await plugin.next()).toMatchObject({ method: "ave/instance/log" });
    expect(await plugin.next()).toEqual(fault(7, -32603, "Internal error"));
  });
});

describe.each([
  { minor: "python3.10", test: partTest("python3.10") },
  { minor: "python3.12", test: partTest("python3.12") },
  { minor: "python3.13", test: partTest("python3.13") },
])("the kit for Python under $minor", ({ minor, test }) => {
  test("answers the whole table", async () => {
    for (const { state, steps } of protocolRows) {
      await using plugin = startPlugin(
        "/usr/bin/env",
        [`PATH=${process.env["PATH"]}`, minor, "-B", "kit_plugin.py"],
        folder,
      );
      await run(plugin, [...stepsTo(state, subject), ...steps(subject)]);
      expect(await plugin.end()).toEqual({ rest: [], code: 0 });
    }
  }, 120_000);
});
