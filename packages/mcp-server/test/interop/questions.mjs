// What the interop server asks its clients, by the argument `what` of its tool "asks". Every client's program answers by message.
const form = (message, properties, required = []) => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: { type: "object", properties, required } },
});
const name = { name: { type: "string", title: "Name", minLength: 1 } };
const said = (text) => ({ role: "user", content: { type: "text", text } });
const sampling = (text, more = {}) => ({
  method: "sampling/createMessage",
  params: { messages: [said(text)], maxTokens: 10, systemPrompt: "Be brief", ...more },
});
const coloured = [
  { const: "r", title: "Red" },
  { const: "g", title: "Green" },
];

/** One round of questions by key, or several. */
export const questions = {
  accept: [{ a: form("Accept, please", name, ["name"]) }],
  decline: [{ a: form("Decline, please", name, ["name"]) }],
  cancel: [{ a: form("Cancel, please", name, ["name"]) }],
  defaults: [
    {
      a: form("Defaults, please", {
        name: { type: "string", default: "Ada" },
        count: { type: "integer", default: 3 },
        ratio: { type: "number", default: 0.5 },
        sure: { type: "boolean", default: true },
        size: { type: "string", enum: ["small", "large"], default: "large" },
      }),
    },
  ],
  enums: [
    {
      a: form(
        "Choose, please",
        {
          size: { type: "string", enum: ["small", "large"] },
          colour: { type: "string", oneOf: coloured },
          sizes: { type: "array", items: { type: "string", enum: ["small", "large"] }, minItems: 1 },
          colours: { type: "array", items: { anyOf: coloured } },
        },
        ["size", "colour", "sizes", "colours"],
      ),
    },
  ],
  wrong: [{ a: form("Answer wrongly, please", { count: { type: "integer" } }, ["count"]) }],
  url: [
    {
      a: {
        method: "elicitation/create",
        params: { mode: "url", message: "Go, please", url: "https://example.com/go", elicitationId: "e1" },
      },
    },
  ],
  sampling: [{ a: sampling("Say hello") }],
  "sampling with tools": [
    {
      a: sampling("Use a tool", {
        tools: [{ name: "add", inputSchema: { type: "object" } }],
        toolChoice: { mode: "required" },
      }),
    },
  ],
  roots: [{ a: { method: "roots/list" } }],
  several: [{ a: form("Accept, please", name, ["name"]), b: sampling("Say hello"), c: { method: "roots/list" } }],
  twice: [{ a: form("Accept, please", name, ["name"]) }, { b: form("Decline, please", name) }],
};
