import { fileURLToPath } from "node:url";

/** What the clients of these tests say of themselves: everything. */
export const clientInfo = { name: "interop-client", version: "1.0.0" };
export const clientCapabilities = {
  elicitation: { form: { applyDefaults: true }, url: {} },
  sampling: { tools: {} },
  roots: { listChanged: true },
};

export type ElicitationAnswer = {
  action: "accept" | "decline" | "cancel";
  content?: Record<string, string | number | boolean | string[]>;
};
export const chosen = { size: "small", colour: "g", sizes: ["small", "large"], colours: ["r"] };
export const roots = [{ uri: "file:///work", name: "work" }];

const byMessage: Readonly<Record<string, ElicitationAnswer>> = {
  "Accept, please": { action: "accept", content: { name: "Ada" } },
  "Decline, please": { action: "decline" },
  "Cancel, please": { action: "cancel" },
  "Defaults, please": { action: "accept", content: {} },
  "Choose, please": { action: "accept", content: chosen },
  "Answer wrongly, please": { action: "accept", content: { count: "many" } },
  "Go, please": { action: "accept" },
};

export function answerTo(message: string): ElicitationAnswer {
  return structuredClone(byMessage[message] ?? { action: "cancel" });
}

export const textSample = {
  role: "assistant" as const,
  model: "model-1",
  stopReason: "endTurn",
  content: { type: "text" as const, text: "hello" },
};
export const toolSample = {
  role: "assistant" as const,
  model: "model-1",
  stopReason: "toolUse",
  content: [{ type: "tool_use" as const, id: "t1", name: "add", input: { a: 1 } }],
};

/** The server that offers everything. */
export const serverProgram = fileURLToPath(new URL("./server.mjs", import.meta.url));
