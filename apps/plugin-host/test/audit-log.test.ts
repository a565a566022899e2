import { ChainError } from "@berth/audit-chain";
import { expect, it } from "vitest";
import { createAskHook } from "../src/rpc/ask-hook.js";

const outcome = {
  allowed: true,
  payload: {},
  extensions: undefined,
  result: undefined,
  violation: undefined,
  httpHeaders: {},
  metadata: {},
  retryDelayMs: 0,
  carried: { requestId: "r-1" },
  executions: [],
};
const request = { hook: "tool_pre_invoke", payload: {}, globalContext: { state: {}, metadata: {} } };
const asker = { principal: "ada", door: "http" } as const;
const host = { run: async () => outcome, hasHook: () => true };

it("a hook whose outcome cannot be recorded is not answered", async () => {
  const refusal = new ChainError("AUDIT_UNAVAILABLE", "the audit log takes no entries now");
  const audit = { append: async () => Promise.reject(refusal) };
  await expect(createAskHook({ host, audit })(asker, request)).rejects.toBe(refusal);
});

it("a hook is answered after its outcome was recorded", async () => {
  const steps: string[] = [];
  const audit = {
    append: async ({ type }: { readonly type: string }) => {
      await Promise.resolve();
      steps.push(type);
    },
  };
  const answered = createAskHook({ host, audit })(asker, request).then(() => steps.push("answer"));
  await answered;
  expect(steps).toEqual(["plugin.hook", "answer"]);
});
