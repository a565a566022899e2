import { expect } from "vitest";
import type { ListKind, Subject } from "../subject.js";
import { type Feature, textOf } from "./feature.js";

const annotations = { audience: ["user", "assistant"], priority: 1, lastModified: "2026-01-02T03:04:05Z" };
const icons = [{ src: "https://example.com/icon.png", mimeType: "image/png", sizes: ["48x48"] }];

/** All entries of a list, and how many pages they took. */
export async function walk(
  subject: Subject,
  kind: ListKind,
): Promise<{ names: string[]; pages: number; items: unknown[] }> {
  const items: { readonly name: string }[] = [];
  let pages = 0;
  for (let cursor: string | undefined; pages === 0 || cursor !== undefined; pages += 1) {
    const page = await subject.page(kind, cursor);
    items.push(...page.items);
    cursor = page.nextCursor;
  }
  return { names: items.map(({ name }) => name), pages, items };
}

export const tools: readonly Feature[] = [
  {
    name: "tools: list over pages",
    async run(subject) {
      const { names, pages } = await walk(subject, "tools");
      expect(pages).toBeGreaterThan(3);
      expect(new Set(names).size).toBe(names.length);
      expect(names).toEqual(expect.arrayContaining(["echo", "weather", "reports"]));
      expect(names).not.toContain("secret");
      expect(names.includes("numbers")).toBe(true);
    },
  },
  {
    name: "tools: annotations, icons, _meta, schemas",
    async run(subject) {
      const { items } = await walk(subject, "tools");
      const named = (name: string): unknown => items.find((item) => Object(item).name === name);
      expect(named("echo")).toMatchObject({
        title: "Echo",
        description: "Says it again",
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
        icons,
        _meta: { "example.com/kind": "tool" },
        inputSchema: { type: "object", required: ["text"] },
      });
      expect(named("weather")).toMatchObject({ outputSchema: { type: "object", required: ["celsius", "sky"] } });
      // An output schema that is no object came with 2026-07-28.
      expect(Object(named("numbers")).outputSchema?.type).toBe(subject.era === "modern" ? "array" : undefined);
    },
  },
  {
    name: "tools: call",
    async run(subject) {
      expect(textOf(await subject.call("echo", { text: "grüße 🌍" }))).toBe("grüße 🌍");
    },
  },
  {
    name: "tools: every kind of content",
    async run(subject) {
      expect(await subject.call("contents")).toMatchObject({
        content: [
          { type: "text", text: "grüße", annotations, _meta: { "example.com/n": 1 } },
          { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png", annotations },
          { type: "audio", data: "UklGRg==", mimeType: "audio/wav" },
          { type: "resource_link", uri: "note:///1", name: "note", title: "First note", size: 5 },
          { type: "resource", resource: { uri: "note:///1", text: "first" }, annotations },
          { type: "resource", resource: { uri: "note:///bytes", blob: "iVBORw0KGgo=" } },
        ],
        _meta: { "example.com/result": true },
      });
    },
  },
  {
    name: "tools: structured content, validated by the client",
    async run(subject) {
      const structuredContent = { celsius: 21.5, sky: "clear" };
      expect(await subject.call("weather", { sky: "clear" })).toMatchObject({ structuredContent });
      const numbers = await subject.call("numbers");
      expect(textOf(numbers)).toBe("[1,2]");
      expect(Object(numbers).structuredContent).toEqual(subject.era === "modern" ? [1, 2] : undefined);
    },
  },
  {
    name: "tools: errors as results",
    async run(subject) {
      expect(await subject.call("no-weather")).toMatchObject({ isError: true, content: [{ text: "no sky" }] });
      expect(await subject.call("fails")).toMatchObject({ isError: true, content: [{ text: "too far" }] });
      expect(await subject.call("echo", {})).toMatchObject({ isError: true });
    },
  },
  {
    name: "tools: unknown and forbidden alike",
    async run(subject) {
      for (const name of ["secret", "absent"]) {
        const message = expect.stringContaining(`Unknown tool: ${name}`);
        await expect(subject.call(name)).rejects.toMatchObject({ code: -32602, message });
      }
    },
  },
  {
    name: "tools: _meta of the request",
    async run(subject) {
      const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
      const result = await subject.call("scope", {}, { meta: { "example.com/x": 1, traceparent } });
      expect(Object(result).structuredContent).toMatchObject({
        principal: "ada",
        revision: subject.revision(),
        meta: { "example.com/x": 1, traceparent },
        trace: { traceparent },
        clientCapabilities: { elicitation: { url: {} }, sampling: { tools: {} }, roots: {} },
      });
    },
  },
  {
    name: "tools: arguments as headers",
    async run(subject) {
      await walk(subject, "tools"); // from which a client knows that there is such an argument
      expect(textOf(await subject.call("routed", { region: "Zürich, west" }))).toBe("Zürich, west");
    },
  },
];
