import { expect, it } from "vitest";
import { mcpParams, observe, pythonPlugin } from "./scripted-plugin.js";

it.each([{ allowUnconfined: false }, { allowUnconfined: true }])(
  "a plugin is created, asked, stopped and destroyed, and each step is told: $allowUnconfined",
  async (options) => {
    const { open, events } = await observe(pythonPlugin(""));
    const instance = await open(options);
    expect(instance.state).toBe("running");
    expect(instance.capabilities).toEqual({ mcp: true, health: true, hooks: ["tool_pre_invoke"] });
    expect(await instance.health()).toEqual({ status: "ok", detail: undefined });
    expect(await instance.request("tools/call", mcpParams({ name: "echo", arguments: { a: 1 } }))).toEqual({
      resultType: "complete",
      content: [{ type: "text", text: '{"a": 1}' }],
    });
    await instance.close();
    expect(await instance.ended).toEqual({
      reason: "destroyed",
      message: "plugin smoke was stopped and has ended",
      code: 0,
      signal: undefined,
      confirmed: true,
    });
    expect(instance.state).toBe("destroyed");
    expect(events.map(({ type }) => type)).toEqual(["plugin.admitted", "plugin.started", "plugin.ended"]);
  },
);
