import { expect } from "vitest";
import type { Subject } from "../subject.js";
import type { Feature } from "./feature.js";

const logLevel = "io.modelcontextprotocol/logLevel";
const levels = (heard: readonly unknown[]): unknown[] => heard.map((one) => Object(one).level);

/** Clients of 2026-07-28 say with each request what they want; before that, once. */
async function logs(subject: Subject, level: "debug" | "warning"): Promise<unknown[]> {
  const before = subject.heard.of("log").length;
  const count = level === "debug" ? 4 : 2;
  if (subject.era === "modern") await subject.call("logs", {}, { meta: { [logLevel]: level } });
  else {
    await subject.setLevel(level);
    await subject.call("logs");
  }
  return (await subject.heard.until("log", before + count)).slice(before);
}

export const changes: readonly Feature[] = [
  {
    name: "revision, server info, instructions, capabilities",
    async run(subject) {
      expect(subject.revision()).toBe(subject.era === "modern" ? "2026-07-28" : "2025-11-25");
      expect(subject.identity()).toMatchObject({
        name: "interop",
        version: "1.2.3",
        title: "Interop",
        websiteUrl: "https://example.com/",
        icons: [{ src: "https://example.com/icon.png" }],
      });
      expect(subject.instructions()).toBe("Use echo first.");
      expect(subject.capabilities()).toMatchObject({
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        completions: {},
      });
    },
  },
  {
    name: "logging and its level",
    async run(subject) {
      const all = await logs(subject, "debug");
      expect(levels(all)).toEqual(["debug", "info", "warning", "error"]);
      expect(all[0]).toMatchObject({ logger: "tests", data: { said: "debug" } });
      expect(levels(await logs(subject, "warning"))).toEqual(["warning", "error"]);
    },
  },
  ...(["tools", "prompts", "resources"] as const).map((what) => ({
    name: `list_changed of ${what}`,
    async run(subject: Subject) {
      const before = subject.heard.of(`${what} changed`).length;
      await subject.call("changes", { what });
      const told = (await subject.heard.until(`${what} changed`, before + 1)).at(-1);
      expect(told).toEqual(expect.arrayContaining([expect.objectContaining({ name: expect.any(String) })]));
    },
  })),
  {
    name: "subscribe, updated, unsubscribe",
    async run(subject) {
      const first = await subject.subscribe("note:///1");
      await subject.call("updates", { uri: "note:///1" });
      expect(await subject.heard.until("updated", 1)).toEqual(["note:///1"]);
      const second = await subject.subscribe("note:///bytes");
      await first();
      await subject.call("updates", { uri: "note:///1" });
      await subject.call("updates", { uri: "note:///bytes" });
      expect(await subject.heard.until("updated", 2)).toEqual(["note:///1", "note:///bytes"]);
      await second();
    },
  },
  {
    name: "ping by the client",
    async run(subject) {
      if (subject.era === "modern") await expect(subject.ping()).rejects.toThrow();
      else expect(await subject.ping()).toEqual({});
    },
  },
  {
    name: "roots/list_changed",
    async run(subject) {
      if (subject.era === "modern") await expect(subject.rootsChanged()).rejects.toThrow();
      else await subject.rootsChanged();
    },
  },
];
