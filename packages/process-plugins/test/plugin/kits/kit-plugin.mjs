// The plugin that kits.test.ts speaks with, over the TypeScript kit. `node kit-plugin.mjs DESCRIPTOR`
import { spawnSync } from "node:child_process";
import { writeSync } from "node:fs";
import { servePlugin } from "@berth/process-plugins/plugin";

const outputDescriptor = Number(process.argv[2] ?? 1);
const nothing = { type: "object", properties: {}, additionalProperties: false };
const text = {
  type: "object",
  properties: { text: { type: "string" } },
  required: ["text"],
  additionalProperties: false,
};
const size = { type: "object", properties: { size: { type: "integer" } }, required: ["size"] };

function noise() {
  console.log("noise");
  process.stdout.write("noise\n");
  if (outputDescriptor === 1) return "printed";
  writeSync(1, "noise\n");
  spawnSync("echo", ["noise"], { stdio: "inherit" });
  return "printed";
}

function waits(_, { signal, log }) {
  log("debug", "begun");
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve("late")));
}

function nest(depth) {
  return depth === 0 ? 0 : [nest(depth - 1)];
}

servePlugin({
  name: "kit",
  version: "1.2.3",
  instructions: "For tests.",
  outputDescriptor,
  tools: [
    { name: "echo", description: "Gives back its text.", inputSchema: text, call: ({ text }) => text },
    {
      name: "fails",
      description: "Fails.",
      inputSchema: nothing,
      call: () => {
        throw new Error("a secret text");
      },
    },
    { name: "noise", description: "Prints.", inputSchema: nothing, listed: false, call: noise },
    {
      name: "waits",
      description: "Waits.",
      inputSchema: nothing,
      listed: false,
      call: waits,
    },
    {
      name: "never",
      description: "Does not end.",
      inputSchema: nothing,
      listed: false,
      call: (_, { log }) => {
        log("debug", "begun");
        return new Promise((resolve) => setTimeout(resolve, 3_600_000));
      },
    },
    {
      name: "structured",
      description: "An object.",
      inputSchema: nothing,
      listed: false,
      call: () => ({ b: "✓", a: [{ d: 1, c: null }] }),
    },
    {
      name: "content",
      description: "As MCP has it.",
      inputSchema: nothing,
      listed: false,
      call: () => ({ content: [], isError: true, _meta: { "example.com/x": 1 } }),
    },
    { name: "large", description: "Large.", inputSchema: size, listed: false, call: ({ size }) => "x".repeat(size) },
    {
      name: "deep",
      description: "Deep.",
      inputSchema: size,
      listed: false,
      call: ({ size }) => ({ nest: nest(size) }),
    },
    { name: "no_json", description: "No JSON.", inputSchema: nothing, listed: false, call: () => ({ content: 1n }) },
    {
      name: "logs",
      description: "Logs.",
      inputSchema: text,
      call: ({ text }, { log }) => {
        log("warn", text);
        return "logged";
      },
    },
  ],
  hooks: {
    tool_pre_invoke: ({ payload, context, extensions, credential }) => {
      if (payload.fails === true) throw new Error("a secret text");
      if (payload.passes === true) return undefined;
      return {
        continue_processing: false,
        violation: { payload, context, given: [extensions ?? null, credential ?? null] },
      };
    },
    agent_pre_invoke: () => undefined,
  },
  health: () => ({ status: "degraded", detail: "as it should be" }),
});
