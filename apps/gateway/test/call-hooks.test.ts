/** Of an inner file: what a host of plugins can answer beside what its plugins decide. */
import type { CallInterception, InterceptedCall } from "@berth/mcp-relay";
import {
  createPluginHost,
  type InProcessHook,
  inProcess,
  type PluginHost,
  readPluginsConfig,
} from "@berth/venv-host/executor";
import { describe, expect, it } from "vitest";
import { createCallHooks } from "../src/plugins/call-hooks.js";

const yaml = (hooks: string): string => `plugins:\n  - { name: p, kind: own, hooks: [${hooks}] }\n`;
const toolCall: InterceptedCall = { server: "files", method: "tools/call", name: "read" };
const wait = { signal: new AbortController().signal };
const request = { name: "read", arguments: { path: "/etc" } };

/** A host of one plugin of this process, which allows everything and keeps what it was told. */
async function hostOf(hooks: string, record?: () => Promise<void>): Promise<{ host: PluginHost; told: unknown[] }> {
  const told: unknown[] = [];
  const keep: InProcessHook = ({ payload, context, credential }) => {
    told.push({ payload, context, credential });
    return {};
  };
  const names = hooks.split(", ");
  const plugin = { hooks: Object.fromEntries(names.map((name) => [name, keep])) };
  const config = await readPluginsConfig(yaml(hooks));
  return { host: createPluginHost({ config, kinds: [inProcess("own", { p: plugin })], record }), told };
}

function begin(host: PluginHost, call: InterceptedCall): CallInterception | undefined {
  const logger = { error: () => undefined, warn: () => undefined };
  return createCallHooks({ host, logger }).begin(call);
}

describe("the hooks of a call", () => {
  it("are not begun for calls of which no plugin wants to know", async () => {
    const { host } = await hostOf("prompt_pre_fetch");
    expect(begin(host, toolCall)).toBeUndefined();
    const prompt = begin(host, { ...toolCall, method: "prompts/get" });
    expect(prompt?.before).toBeDefined();
    expect(prompt?.after).toBeUndefined();
  });

  it("are told the server and one request, and no credential", async () => {
    const { host, told } = await hostOf("tool_pre_invoke, tool_post_invoke");
    const call = begin(host, toolCall);
    expect(await call?.before?.(request, wait)).toEqual({ kind: "pass" });
    expect(await call?.after?.({ content: [] }, wait)).toEqual({ kind: "pass" });
    const globalContext = expect.objectContaining({ requestId: call?.mark, serverId: "files" });
    expect(told).toMatchObject([
      { payload: { name: "read", args: { path: "/etc" } }, context: { globalContext }, credential: undefined },
      { payload: { name: "read", result: { content: [] } }, context: { globalContext }, credential: undefined },
    ]);
  });

  it("refuse a call whose decision cannot be recorded", async () => {
    const { host } = await hostOf("tool_pre_invoke", () => Promise.reject(new Error("disk full: /secret/path")));
    const verdict = await begin(host, toolCall)?.before?.(request, wait);
    expect(verdict).toMatchObject({ kind: "refuse", code: -32_603, reason: "NOT_RECORDED" });
    expect(JSON.stringify(verdict)).not.toContain("secret");
  });

  it("refuse a call that cannot be shown to plugins, and name the member only", async () => {
    const { host, told } = await hostOf("prompt_pre_fetch");
    const call = begin(host, { ...toolCall, method: "prompts/get" });
    const verdict = await call?.before?.({ name: "greet", arguments: { who: 12345 } }, wait);
    expect(verdict).toMatchObject({ kind: "refuse", reason: "HOOK_PAYLOAD_INVALID" });
    expect(JSON.stringify(verdict)).not.toContain("12345");
    expect(told).toEqual([]);
  });

  it("refuse calls when the host of plugins is closed", async () => {
    const { host } = await hostOf("tool_pre_invoke");
    const call = begin(host, toolCall);
    await host.close();
    expect(await call?.before?.(request, wait)).toMatchObject({ kind: "refuse", reason: "HOOK_FAILED" });
  });

  it("end with the call", async () => {
    const { host } = await hostOf("tool_pre_invoke");
    const signal = AbortSignal.abort(new Error("cancelled"));
    await expect(begin(host, toolCall)?.before?.(request, { signal })).rejects.toThrow("cancelled");
  });
});
