import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@berth/jsonrpc-framing";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { startTaskProcess, type TaskProcess } from "../support/task-process.js";

const call = (server: TaskProcess, name: string, given: JsonObject = {}) =>
  server.ask("tools/call", { name, arguments: given });
const idOf = (task: JsonObject | undefined): string => String(task?.["taskId"]);

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "tasks-"));
  try {
    await run(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe("tasks of a server over stdio, kept in files", () => {
  it("are created, asked, listened to and cancelled", () =>
    inFolder(async (folder) => {
      await using server = startTaskProcess(folder);
      const [asks, waits, breaks] = [
        await call(server, "asks"),
        await call(server, "waits"),
        await call(server, "breaks"),
      ];
      await server.until(idOf(asks), "input_required");
      void server.ask("subscriptions/listen", { notifications: { taskIds: [idOf(asks), "absent"] } });
      await server.told(2);
      const inputResponses = { sure: { action: "accept", content: { ok: true } } };
      expect(await server.ask("tasks/update", { taskId: idOf(asks), inputResponses })).toMatchObject({
        resultType: "complete",
      });
      const done = await server.until(idOf(asks), "completed");
      expect(done["result"]).toMatchObject({
        content: [{ text: '{"sure":{"action":"accept","content":{"ok":true}}}' }],
      });
      expect(server.notifications.map(({ method, params }) => [method, Object(params).status])).toEqual([
        ["notifications/subscriptions/acknowledged", undefined],
        ["notifications/tasks", "input_required"],
        ["notifications/tasks", "working"],
        ["notifications/tasks", "completed"],
      ]);
      await server.ask("tasks/cancel", { taskId: idOf(waits) });
      await server.until(idOf(waits), "cancelled");
      expect(await server.until(idOf(breaks), "failed")).toMatchObject({
        error: { code: -32603, message: "Internal error" },
      });
      server.child.stdin.end();
      expect(await server.ended).toBe(0);
      expect(server.stderr()).toContain('unexpected error in a task of tool "breaks"');
    }));

  it("that run when the input ends are failed afterwards, and say why", () =>
    inFolder(async (folder) => {
      await using first = startTaskProcess(folder);
      const [waits, counts] = [await call(first, "waits"), await call(first, "counts", { n: 3 })];
      await first.until(idOf(counts), "completed");
      first.child.stdin.end();
      expect(await first.ended).toBe(0);
      await using second = startTaskProcess(folder);
      expect(await second.until(idOf(waits), "failed")).toMatchObject({ statusMessage: "The server was closed" });
      expect(await second.until(idOf(counts), "completed")).toMatchObject({
        result: { content: [{ text: "counted to 3" }] },
      });
      second.child.stdin.end();
      await second.ended;
    }));

  it(
    "are what was told of them after the process was killed at any moment: ends stay, all else has failed, nothing seems to run",
    () =>
      inFolder(async (folder) => {
        const kills = scaledCount("kills of a task server", 200);
        const truth = new Map<string, JsonObject | undefined>();
        const learn = (task: JsonObject | undefined): void => {
          if (task === undefined) return;
          const hasEnded = ["completed", "failed", "cancelled"].includes(String(task["status"]));
          if (hasEnded || !truth.has(idOf(task))) truth.set(idOf(task), hasEnded ? task : undefined);
        };
        for (let kill = 0; kill < kills; kill += 1) {
          await using server = startTaskProcess(folder);
          // After so many new things that the client has learned: from the first answer to the last end.
          let left = 1 + ((kill * 5) % 13);
          const news = new Set<string>();
          const told = (what: string, task: JsonObject | undefined): void => {
            if (task === undefined || news.has(what)) return;
            news.add(what);
            left -= 1;
            if (left === 0) server.child.kill("SIGKILL");
          };
          const work = async (name: string, n: number): Promise<void> => {
            const created = await call(server, name, { n });
            if (created === undefined) return;
            learn(created);
            const taskId = idOf(created);
            told(taskId, created);
            while (truth.get(taskId) === undefined) {
              const task = await server.ask("tasks/get", { taskId });
              if (task === undefined) return;
              learn(task);
              told(`${taskId} ${task["status"]}`, task);
              const inputResponses = { sure: { action: "cancel" } };
              if (name === "asks") told(`${taskId} ack`, await server.ask("tasks/update", { taskId, inputResponses }));
              if (name === "waits") told(`${taskId} ack`, await server.ask("tasks/cancel", { taskId }));
            }
          };
          await Promise.all(["counts", "asks", "waits", "counts"].map((name, at) => work(name, kill * 10 + at)));
          server.child.kill("SIGKILL");
          await server.ended;
          expect(server.child.signalCode).toBe("SIGKILL");
        }
        await using last = startTaskProcess(folder);
        for (const [taskId, end] of truth) {
          const task = await last.ask("tasks/get", { taskId });
          if (end !== undefined) expect(task).toEqual(end);
          else expect(["completed", "failed", "cancelled"]).toContain(task?.["status"]);
        }
        expect([...truth.values()].filter((end) => end !== undefined).length).toBeGreaterThan(0);
        expect((await readdir(folder)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
        last.child.stdin.end();
        await last.ended;
      }),
    300_000,
  );
});
