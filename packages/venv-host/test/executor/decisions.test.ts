import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import type { HookDecision } from "../../src/executor.js";
import { createFakeTime } from "./fake-time.js";
import { allow, deny, hostOf, requestOf, runOver } from "./hosts.js";

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

it("tells of each decision, in order, before it answers", async () => {
  const decisions: HookDecision[] = [];
  await runOver(
    [
      { name: "skipped", conditions: [{ tools: ["other"] }], does: allow },
      { name: "ok", does: allow },
      { name: "changes", mode: "sequential", does: () => ({ modified_payload: { name: "x" } }) },
      { name: "no", does: deny("NO") },
    ],
    {},
    { record: (decision) => void decisions.push(decision) },
  );
  expect(decisions).toMatchObject([
    { plugin: "ok", hook: "tool_pre_invoke", mode: "sequential", status: "allowed", requestId: "r-1", code: undefined },
    {
      plugin: "changes",
      status: "modified",
      change: { before: expect.stringMatching(/^[0-9a-f]{64}$/u), after: digestOf('{"name":"x"}') },
    },
    { plugin: "no", status: "denied", code: "NO", reason: "reason of NO", change: undefined },
  ]);
});

it.each([
  {
    name: "throws",
    record: () => {
      throw new Error("disk full");
    },
  },
  { name: "rejects", record: async () => Promise.reject(new Error("disk full")) },
])("fails the hook closed when record $name", async ({ record }) => {
  await expect(runOver([{ name: "p", does: allow }], {}, { record })).rejects.toMatchObject({
    code: "DECISION_NOT_RECORDED",
  });
});

it("fails the hook closed when record takes too long", async () => {
  const time = createFakeTime();
  const host = hostOf([{ name: "p", does: allow }], {
    record: () => new Promise(() => undefined),
    scheduler: time,
    limits: { recordTimeoutMs: 7_000 },
  });
  const running = host.run(requestOf());
  const failed = expect(running).rejects.toMatchObject({ code: "DECISION_NOT_RECORDED" });
  await time.armed(7_000);
  time.pass(7_000);
  await failed;
  await host.close();
});

it("waits for slow records, and no longer than the caller", async () => {
  let finish: (() => void) | undefined;
  const written = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let isAnswered = false;
  const running = runOver([{ name: "p", does: allow }], {}, { record: () => written }).then(() => {
    isAnswered = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isAnswered).toBe(false);
  finish?.();
  await running;
  const host = hostOf([{ name: "p", does: allow }], { record: () => new Promise(() => undefined) });
  const stop = new AbortController();
  const waiting = host.run(requestOf({ signal: stop.signal }));
  stop.abort("enough");
  await expect(waiting).rejects.toBe("enough");
  await host.close();
});
