import { ChainError } from "@berth/audit-chain";
import { RpcError } from "@berth/mcp-server";
import { ProcessPluginError } from "@berth/process-plugins";
import { expect, it } from "vitest";
import { createPluginCalls } from "../src/process/plugin-calls.js";
import { unavailable } from "../src/process/plugin-unavailable.js";

const call = { plugin: "words", method: "tools/call", tool: "say", principal: "ada", door: "mcp" } as const;
const request = { params: { name: "say" }, signal: new AbortController().signal };
const refusal = new ChainError("AUDIT_UNAVAILABLE", "the audit log takes no entries now");

/** A log that refuses entries of one type, and what happened in which order. */
function makeLog(refused: string): { readonly steps: string[]; readonly calls: ReturnType<typeof createPluginCalls> } {
  const steps: string[] = [];
  const append = async ({
    type,
  }: {
    readonly type: string;
  }): Promise<{ sequence: number; hash: string; time: string }> => {
    await Promise.resolve();
    if (type === refused) throw refusal;
    steps.push(type);
    return { sequence: steps.length, hash: "", time: "" };
  };
  const observer = { called: (_plugin: string, outcome: string): void => void steps.push(`counted ${outcome}`) };
  return { steps, calls: createPluginCalls({ audit: { append }, observer }) };
}

it("a call whose intent cannot be recorded does not leave, and is answered with -32002", async () => {
  const { steps, calls } = makeLog("call.intent");
  const run = calls.run(call, request, async (beforeSend) => {
    await beforeSend("plugin-1");
    steps.push("left");
    return {};
  });
  const error = await run.catch((fault: unknown) => unavailable("words", fault));
  expect(error).toMatchObject({ code: -32002, data: { code: "AUDIT_UNAVAILABLE" } });
  expect(steps).toEqual(["counted refused", "call.refused"]);
});

it("a result whose outcome cannot be recorded is not given", async () => {
  const { calls } = makeLog("call.outcome");
  const run = calls.run(call, request, async (beforeSend) => {
    await beforeSend("plugin-1");
    return {};
  });
  await expect(run).rejects.toBe(refusal);
});

it.each([
  { name: "result", result: {}, status: "result" },
  { name: "tool error", result: { isError: true }, status: "tool-error" },
  { name: "question", result: { resultType: "input_required" }, status: "input-required" },
  { name: "error of the plugin", result: new RpcError(-31500, "its own"), status: "error" },
  { name: "end of the plugin", result: new ProcessPluginError("PLUGIN_EXITED", "it ended"), status: "failed" },
])("a call is recorded before it leaves and after: $name", async ({ result, status }) => {
  const { steps, calls } = makeLog("none");
  const run = calls.run(call, request, async (beforeSend) => {
    await beforeSend("plugin-1");
    steps.push("left");
    if (result instanceof Error) throw result;
    return result;
  });
  await run.catch(() => {});
  expect(steps).toEqual(["call.intent", "left", `counted ${status}`, "call.outcome"]);
});

it("why a plugin gives no answer is told to clients by its configured name, without paths and digests", () => {
  const secret = "/srv/x is not what was pinned: tree-v1:00";
  for (const code of ["PLUGIN_CHANGED", "PLUGIN_REJECTED", "PLUGIN_NOT_STARTED", "OPTION_INVALID"] as const) {
    const told = unavailable("yaml", new ProcessPluginError(code, secret, { plugin: "words" }));
    expect(told).toMatchObject({ code: -31102, data: { code } });
    expect(String(told)).toMatch(/plugin yaml (?:is refused|could not be started|cannot be used)/u);
    expect(String(told)).not.toMatch(/srv|tree-v1|words/u);
  }
});
