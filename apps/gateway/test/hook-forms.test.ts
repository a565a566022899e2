/** Of inner files: what plugins may send back has more forms than a stand-in's few plugins show. */
import type { InterceptedMethod } from "@berth/mcp-relay";
import type { JsonObject } from "@berth/venv-host/executor";
import { describe, expect, it } from "vitest";
import { cmfForms } from "../src/plugins/cmf-forms.js";
import { plainForms } from "../src/plugins/hook-forms.js";

const request = { name: "n", arguments: { a: 1 } };
const methods: readonly InterceptedMethod[] = ["tools/call", "prompts/get", "resources/read"];
const results: Readonly<Record<InterceptedMethod, JsonObject>> = {
  "tools/call": { content: [{ type: "text", text: "t" }], structuredContent: { x: 1 } },
  "prompts/get": {
    description: "d",
    messages: [
      { role: "user", content: { type: "image", data: "AA==" } },
      { role: "user", content: { type: "text", text: "t" } },
    ],
  },
  "resources/read": {
    contents: [
      { uri: "u:1", mimeType: "text/plain", text: "t" },
      { uri: "u:2", blob: "AA==" },
    ],
  },
};
const forms = methods.flatMap((method) => [
  { hook: plainForms[method].before, form: plainForms[method], result: results[method] },
  { hook: cmfForms[method].before, form: cmfForms[method], result: results[method] },
]);

describe.each(forms)("the payload of $hook", ({ form, result }) => {
  it("says the request, and the same is read from it", () => {
    const read = form.readRequest(form.request(request, "id"), request);
    expect(read?.name).toBe("n");
    expect([{ a: 1 }, {}]).toContainEqual(read?.arguments);
  });

  it.each([
    { name: "nothing", payload: {} },
    { name: "another type", payload: { name: 1, prompt_id: 1, uri: 1, args: {}, message: "no" } },
    { name: "a message without parts", payload: { message: { role: "user", content: [] } } },
    { name: "a message of another part", payload: { message: { content: [{ content_type: "text", text: "x" }] } } },
    {
      name: "a message of two parts",
      payload: { message: { content: [{ content_type: "tool_call" }, { content_type: "tool_call" }] } },
    },
  ])("is no request when a plugin makes $name of it", ({ payload }) => {
    expect(form.readRequest(payload, request)).toBeUndefined();
  });

  it("says each part of a result, and the same result is read from it", () => {
    const parts = form.parts(result, "n");
    expect(parts.length).toBeGreaterThan(0);
    for (const part of parts) expect(part.read(part.payload(result, "id"), result)).toEqual(result);
    for (const part of parts) expect(part.read({}, result)).toBeUndefined();
  });
});

it("shows each text of a prompt and each piece of a resource by itself, with its own address", () => {
  const pieces = cmfForms["resources/read"].parts(results["resources/read"], "u:0");
  const [text, blob] = pieces.map((piece) => JSON.stringify(piece.payload(results["resources/read"], "id")));
  expect(text).toContain('"uri":"u:1","resource_type":"uri","mime_type":"text/plain","content":"t"');
  expect(blob).toContain('"uri":"u:2","resource_type":"uri","blob":"AA=="');
  expect(cmfForms["prompts/get"].parts(results["prompts/get"], "n").length).toBe(1);
  expect(plainForms["resources/read"].parts({ other: 1 }, "u:0").map((one) => one.payload({ other: 1 }, "id"))).toEqual(
    [{ uri: "u:0", content: { other: 1 } }],
  );
});
