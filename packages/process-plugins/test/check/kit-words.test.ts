import { expect, it } from "vitest";
import { refusedWords } from "../../src/check/escapes/kit.js";

it.each([
  { answer: { outcome: "refused", name: "EPERM" }, words: "refused: outlive the command (EPERM)" },
  { answer: { outcome: "refused", name: undefined }, words: "refused: outlive the command" },
  { answer: { outcome: "ended", name: "SIGKILL" }, words: "refused: outlive the command: ended (SIGKILL)" },
  {
    answer: { outcome: "succeeded", name: undefined },
    words:
      "refused: outlive the command: it did all that it could inside, and nothing of it was left or reached this machine",
  },
] as const)("a refused attempt of the kit never says that it succeeded: $answer", ({ answer, words }) => {
  expect(refusedWords("outlive the command", answer)).toBe(words);
});
