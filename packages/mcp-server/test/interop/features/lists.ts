import { expect } from "vitest";
import type { Feature } from "./feature.js";
import { walk } from "./tools.js";

const annotations = { audience: ["user"], priority: 0.5, lastModified: "2026-01-02T03:04:05Z" };
const prompt = { type: "ref/prompt" as const, name: "greet" };
const template = { type: "ref/resource" as const, uri: "note:///by/{author}/{year}" };

export const lists: readonly Feature[] = [
  {
    name: "prompts: list over pages",
    async run(subject) {
      const { names, pages, items } = await walk(subject, "prompts");
      expect([names, pages]).toEqual([["greet", "asking", "filler-1", "filler-2", "filler-3"], 2]);
      expect(items[0]).toMatchObject({
        title: "Greeting",
        icons: [{ src: "https://example.com/greet.png" }],
        _meta: { "example.com/kind": "prompt" },
        arguments: [{ name: "who", description: "Whom", required: true }, { name: "how" }],
      });
    },
  },
  {
    name: "prompts: get",
    async run(subject) {
      expect(await subject.prompt("greet", { who: "Ada" })).toMatchObject({
        description: "A greeting",
        messages: [
          { role: "user", content: { type: "text", text: "Greet Ada" } },
          { role: "assistant", content: { type: "image", mimeType: "image/png" } },
          { role: "user", content: { type: "resource", resource: { text: "first" } } },
        ],
      });
      for (const name of ["absent", "secret"])
        await expect(subject.prompt(name)).rejects.toMatchObject({ code: -32602 });
      await expect(subject.prompt("greet")).rejects.toMatchObject({ code: -32602 });
    },
  },
  {
    name: "completion of prompts and templates",
    async run(subject) {
      const values = (result: unknown): unknown => Object(result).completion.values;
      expect(values(await subject.complete(prompt, { name: "who", value: "al" }))).toEqual(["alan"]);
      const how = await subject.complete(prompt, { name: "how", value: "" }, { who: "ada" });
      expect(values(how)).toEqual(["ada-warmly", "ada-coldly"]);
      expect(values(await subject.complete(template, { name: "author", value: "ad" }))).toEqual(["ada"]);
      const year = await subject.complete(template, { name: "year", value: "18" }, { author: "ada" });
      expect(values(year)).toEqual(["1842", "1843"]);
    },
  },
  {
    name: "resources: list over pages",
    async run(subject) {
      const { names, pages, items } = await walk(subject, "resources");
      expect([names, pages]).toEqual([["note", "bytes", "asking", "filler-1", "filler-2"], 2]);
      expect(items[0]).toMatchObject({
        uri: "note:///1",
        title: "First note",
        mimeType: "text/plain",
        size: 5,
        annotations,
        icons: [{ src: "https://example.com/note.png" }],
        _meta: { "example.com/kind": "resource" },
      });
    },
  },
  {
    name: "resources: read",
    async run(subject) {
      const note = { uri: "note:///1", mimeType: "text/plain", text: "first" };
      expect(Object(await subject.read("note:///1")).contents).toEqual([note]);
      expect(await subject.read("note:///bytes")).toMatchObject({ contents: [{ blob: "iVBORw0KGgo=" }] });
      // SDK 2.x tells its caller -32602 whatever the number on the wire.
      for (const name of ["absent", "secret"]) {
        await expect(subject.read(`note:///${name}`)).rejects.toMatchObject({
          code: expect.toSatisfy((code) => [-32002, -32602].includes(code)),
          message: expect.stringMatching(/not found/i),
        });
      }
    },
  },
  {
    name: "resource templates: list over pages, read",
    async run(subject) {
      const { names, pages, items } = await walk(subject, "resourceTemplates");
      expect([names.length, pages]).toEqual([5, 2]);
      expect(items[0]).toMatchObject({ uriTemplate: template.uri, title: "Notes of a year", annotations });
      expect(Object(await subject.read("note:///by/ada%20b/1842")).contents).toMatchObject([
        { uri: "note:///by/ada%20b/1842", text: "of ada b in 1842" },
        { uri: "note:///bytes", blob: "iVBORw0KGgo=" },
      ]);
    },
  },
];
