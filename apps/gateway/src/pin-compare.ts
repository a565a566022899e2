import {
  compareDefinitions,
  describeDefinitionChange,
  describeTextChange,
  type PinnedDefinitions,
  type StdioServer,
} from "@berth/mcp-relay";
import type { Examined } from "./examine-server.js";
import { type ToolEffect, toolEffect } from "./tool-effects.js";

/** How a server compares with what was accepted. `pinned`: it was new or changed, and is accepted now. */
export type PinStatus = "pinned" | "new" | "unchanged" | "changed" | "error";

/** A tool that would be trusted. */
export interface PinnedTool {
  readonly name: string;
  readonly digest: string;
  readonly effect: ToolEffect;
  readonly change: "new" | "changed" | "renamed" | "unchanged";
}

/** What differs, for a person: lines that say what was and what is. */
export interface PinComparison {
  readonly status: "new" | "unchanged" | "changed";
  readonly tools: readonly PinnedTool[];
  readonly changes: readonly string[];
}

/** Compares a server as it is with what its entry says was accepted. Pure. */
export function comparePins(server: StdioServer, { inspection, pins }: Examined): PinComparison {
  const { spawn, tools: held = {}, pinnedInitialize } = server;
  const isNew = spawn.digest === undefined && held.pinned === undefined;
  const changes = [
    ...textLine("digest", spawn.digest, pins.digest),
    ...textLine("interpreter", spawn.interpreter?.path, pins.interpreter?.path),
    ...textLine("interpreter digest", spawn.interpreter?.digest, pins.interpreter?.digest),
    ...describeTextChange("instructions", pinnedInitialize?.instructions, inspection.initialize.instructions),
    ...definitionLines("tool", held.pinned, inspection.tools, "name"),
    ...definitionLines("prompt", held.pinnedPrompts, inspection.prompts, "name"),
    ...definitionLines("resource template", held.pinnedResourceTemplates, inspection.resourceTemplates, "uriTemplate"),
  ];
  const changed = new Map(
    compareDefinitions(held.pinned ?? {}, inspection.tools, "name").map(({ name, change }) => [name, change]),
  );
  const tools = inspection.tools.map(({ name, digest, definition }): PinnedTool => {
    const change = changed.get(name) ?? "unchanged";
    return {
      name,
      digest,
      effect: toolEffect(name, definition),
      change: change === "withdrawn" ? "unchanged" : change,
    };
  });
  if (isNew) return { status: "new", tools, changes: [] };
  return { status: changes.length === 0 && isComplete(server) ? "unchanged" : "changed", tools, changes };
}

/** A digest that was written by hand has no tools beside it yet. */
function isComplete({ spawn, tools }: StdioServer): boolean {
  return spawn.digest !== undefined && tools?.pinned !== undefined;
}

function textLine(name: string, before: string | undefined, after: string | undefined): string[] {
  if (before === after) return [];
  if (before === undefined) return [`+ ${name}: ${after}`];
  return after === undefined ? [`- ${name}: ${before}`] : [`~ ${name}`, `    was ${before}`, `    is  ${after}`];
}

function definitionLines(
  kind: string,
  held: PinnedDefinitions | undefined,
  live: Examined["inspection"]["tools"],
  nameMember: "name" | "uriTemplate",
): string[] {
  const pinned = held ?? {};
  return compareDefinitions(pinned, live, nameMember).flatMap(({ name, change, renamedFrom }) => {
    const before = Object.hasOwn(pinned, name) ? pinned[name]?.definition : undefined;
    const after = live.find((definition) => definition.name === name)?.definition;
    const title = `${kind} ${JSON.stringify(name)} ${change}${renamedFrom === undefined ? "" : ` (was ${JSON.stringify(renamedFrom)})`}`;
    return [title, ...describeDefinitionChange(before, after).map((line) => `    ${line}`)];
  });
}
