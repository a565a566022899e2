import { expect } from "vitest";
import { chosen, roots, textSample, toolSample } from "../answers.js";
import { type Feature, parsed, textOf } from "./feature.js";

const ada = { action: "accept", content: { name: "Ada" } };
const defaults = { name: "Ada", count: 3, ratio: 0.5, sure: true, size: "large" };

/** Questions of the tool "asks", and the answers that its handler has to get. */
const rows: readonly { readonly name: string; readonly what: string; readonly answers: Record<string, unknown> }[] = [
  { name: "elicitation: accept", what: "accept", answers: { a: ada } },
  { name: "elicitation: decline", what: "decline", answers: { a: { action: "decline" } } },
  { name: "elicitation: cancel", what: "cancel", answers: { a: { action: "cancel" } } },
  { name: "elicitation: defaults", what: "defaults", answers: { a: { action: "accept", content: defaults } } },
  { name: "elicitation: enums", what: "enums", answers: { a: { action: "accept", content: chosen } } },
  { name: "elicitation: url", what: "url", answers: { a: { action: "accept" } } },
  { name: "sampling", what: "sampling", answers: { a: textSample } },
  { name: "sampling with tools", what: "sampling with tools", answers: { a: toolSample } },
  { name: "roots", what: "roots", answers: { a: { roots } } },
  { name: "several questions at once", what: "several", answers: { a: ada, b: textSample, c: { roots } } },
  { name: "one question after another", what: "twice", answers: { a: ada, b: { action: "decline" } } },
];

export const questions: readonly Feature[] = [
  ...rows.map(({ name, what, answers }) => ({
    name,
    run: async (subject: Parameters<Feature["run"]>[0]) => {
      expect(parsed(await subject.call("asks", { what }))).toMatchObject(answers);
    },
  })),
  {
    name: "elicitation: an answer that the form refuses",
    async run(subject) {
      await expect(subject.call("asks", { what: "wrong" })).rejects.toThrow();
      expect(textOf(await subject.call("echo", { text: "goes on" }))).toBe("goes on");
    },
  },
  {
    name: "questions in the course of prompts and resources",
    async run(subject) {
      expect(await subject.prompt("asking")).toMatchObject({
        messages: [{ content: { text: JSON.stringify(ada) } }],
      });
      expect(await subject.read("note:///asking")).toMatchObject({ contents: [{ text: JSON.stringify(ada) }] });
    },
  },
];
