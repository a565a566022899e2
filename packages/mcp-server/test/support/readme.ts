import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A fenced block of the README. */
export interface CodeBlock {
  readonly language: string;
  readonly text: string;
  /** Where its text begins, from 1. */
  readonly line: number;
}

export const readme: string = readFileSync(fileURLToPath(new URL("../../README.md", import.meta.url)), "utf8");

/** The blocks in one of these languages, in order. */
export function codeBlocks(...languages: readonly string[]): readonly CodeBlock[] {
  const blocks: CodeBlock[] = [];
  for (const { 1: language = "", 2: text = "", index } of readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)) {
    const line = readme.slice(0, index).split("\n").length + 1;
    if (languages.includes(language)) blocks.push({ language, text, line });
  }
  return blocks;
}
