import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@berth/jsonrpc-framing";
import { createMeasurer } from "@berth/spawn-attestation";
import { afterAll, afterEach, expect } from "vitest";
import type { InstanceOptions, PluginInstance, PluginLogLine } from "../../src/instance/instance.js";
import { openInstance } from "../../src/instance/open-instance.js";
import type { PluginEvent } from "../../src/instance/plugin-event.js";
import { inspectPlugin } from "../../src/tree/inspect-plugin.js";
import { emptyFolder, fill, manifestText, pluginFolder, type TestFile } from "../support/plugin-folder.js";

/** A whole plugin in Python, of which a script replaces parts: `usual(request)` answers as a good one. */
const base = `#!/usr/bin/python3
import json, os, sys, time
def raw(data):
    while data: data = data[os.write(1, data):]
def say(message): raw((json.dumps(message) + "\\n").encode())
def answer(request, result): say({"jsonrpc": "2.0", "id": request["id"], "result": result})
def refuse(request, code, message): say({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}})
def log(level, message): say({"jsonrpc": "2.0", "method": "ave/instance/log", "params": {"level": level, "message": message}})
def requests():
    for line in sys.stdin.buffer: yield json.loads(line)
CREATED = {"protocol": 1, "plugin": {"name": "smoke", "version": "1.0.0"}, "capabilities": {"mcp": True, "health": True, "hooks": ["tool_pre_invoke"]}}
def usual(request):
    method = request["method"]
    if method == "ave/instance/create": answer(request, CREATED)
    elif method == "ave/instance/start": answer(request, {"status": "running"})
    elif method == "ave/instance/health": answer(request, {"status": "ok"})
    elif method == "ave/hook/invoke": answer(request, {"continue_processing": True, "seen": request["params"]})
    elif method == "ave/instance/stop": answer(request, {})
    elif method == "ave/instance/destroy":
        answer(request, {})
        sys.exit(0)
    elif method == "server/discover": answer(request, {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}, "ttlMs": 0, "cacheScope": "public"})
    elif method == "tools/call": answer(request, {"resultType": "complete", "content": [{"type": "text", "text": json.dumps(request["params"].get("arguments"))}]})
    elif "id" in request: say({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "Method not found", "data": method}})
`;
/** What follows where a script says nothing else: the usual answers to the end of input. */
const loop = `
for request in requests(): usual(request)
`;

/** The text of a plugin that does something of its own first; \`for request in requests(): …\` replaces the usual loop. */
export function pythonPlugin(code: string): string {
  return `${base}${code}\n${code.includes("in requests()") ? "" : loop}`;
}

/** A program that differs from the usual one in its answers to one method. */
export function whenAsked(method: string, code: string): string {
  const indented = code
    .trim()
    .split("\n")
    .map((line) => `        ${line}`)
    .join("\n");
  return pythonPlugin(`
for request in requests():
    if request["method"] == "${method}":
${indented}
    else: usual(request)
`);
}

const measurer = createMeasurer();
afterAll(() => measurer.close());

const opened: PluginInstance[] = [];
afterEach(async () => {
  // That an end could not be recorded is what some tests are about.
  const unrecorded = (error: unknown): void => expect(error).toMatchObject({ code: "NOT_RECORDED" });
  await Promise.all(opened.splice(0).map((instance) => instance.kill().catch(unrecorded)));
});

/** An instance that a test opens, and all that its host was told. */
export interface Observed {
  readonly events: PluginEvent[];
  readonly lines: PluginLogLine[];
  readonly folder: string;
  readonly dataFolder: string;
  open(options?: Partial<InstanceOptions>): Promise<PluginInstance>;
}

/** An instance that outlives single tests; who opens it closes it. */
export async function openBeside(text: string): Promise<PluginInstance> {
  const folder = fill(mkdtempSync(join(realpathSync(tmpdir()), "berth-beside-")), {
    "plugin.json": manifestText(),
    "bin/plugin": { text, mode: 0o755 },
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const plugin = await inspectPlugin(folder);
  const dataFolder = `${folder}-data`;
  afterAll(() => rmSync(dataFolder, { recursive: true, force: true }));
  return openInstance({ plugin, dataFolder, host: { name: "test", version: "1" }, measurer });
}

/** A plugin in a folder of its own; it is ended after the test. */
export async function observe(text: string, files: Readonly<Record<string, TestFile>> = {}): Promise<Observed> {
  const folder = pluginFolder(text, files);
  const dataFolder = join(emptyFolder(), "data");
  const plugin = await inspectPlugin(folder);
  const events: PluginEvent[] = [];
  const lines: PluginLogLine[] = [];
  const open: Observed["open"] = async (options) => {
    const instance = await openInstance({
      plugin,
      dataFolder,
      host: { name: "test", version: "1" },
      measurer,
      record: (event) => void events.push(event),
      onLog: (line) => void lines.push(line),
      ...options,
    });
    opened.push(instance);
    return instance;
  };
  return { events, lines, folder, dataFolder, open };
}

/** Params with the two keys that MCP needs. */
export function mcpParams(params: JsonObject = {}): JsonObject {
  return {
    ...params,
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  };
}
