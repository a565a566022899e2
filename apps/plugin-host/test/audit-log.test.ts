import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifyLogs } from "@berth/audit-chain";
import { expect, it, onTestFinished } from "vitest";
import { openAuditLog } from "../src/audit/audit-log.js";
import { NotRecorded } from "../src/audit/not-recorded.js";
import { createAskHook } from "../src/rpc/ask-hook.js";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "bph-log-"));
  onTestFinished(() => {
    chmodSync(path, 0o700);
    rmSync(path, { recursive: true, force: true });
  });
  return path;
}

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

it("opens, records and closes a log that verifies, whatever names are in it", async () => {
  const audit = folder();
  const log = await openAuditLog({ folder: audit, opening: { program: "test" }, now: Date.now });
  await log.record({ type: "plugin.decision", plugin: "\ud800".repeat(5_000), code: "x" });
  await log.close("done");
  await log.close("again");
  expect(await verifyLogs(audit, {})).toMatchObject({ ok: true, entries: 3 });
});

it("a hook whose outcome cannot be recorded is not answered", async () => {
  const audit = { record: async () => Promise.reject(new NotRecorded(new Error("disk full"))) };
  await expect(createAskHook({ host, audit })(asker, request)).rejects.toThrow("the audit log takes no entries now");
});

it("a hook is answered after its outcome was recorded", async () => {
  const steps: string[] = [];
  const audit = {
    record: async ({ type }: { readonly type: string }) => {
      await Promise.resolve();
      steps.push(type);
    },
  };
  const answered = createAskHook({ host, audit })(asker, request).then(() => steps.push("answer"));
  await answered;
  expect(steps).toEqual(["plugin.hook", "answer"]);
});
