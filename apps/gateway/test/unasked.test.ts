/** Of an inner file: what a file of plugins may wait for in vain has more forms than are worth a process each. */
import { readPluginsConfig } from "@berth/venv-host/executor";
import { expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { findUnasked } from "../src/plugins/unasked.js";
import { gateway } from "./gateway.js";
import { entryOf, pluginPlace } from "./plugin-place.js";

it.each([
  { name: "no condition", conditions: [], never: false },
  { name: "its tool", conditions: [{ tools: ["add"] }], never: false },
  { name: "its server", conditions: [{ server_ids: ["files"] }], never: false },
  { name: "an empty list of users", conditions: [{ user_patterns: [] }], never: false },
  { name: "a user", conditions: [{ user_patterns: ["admin"] }], never: true },
  { name: "a user and its tool", conditions: [{ user_patterns: ["admin"], tools: ["add"] }], never: true },
  { name: "a user or a tenant", conditions: [{ user_patterns: ["a"] }, { tenant_ids: ["t"] }], never: true },
  { name: "a content type", conditions: [{ content_types: ["text/plain"] }], never: true },
  { name: "a user or its tool", conditions: [{ user_patterns: ["admin"] }, { tools: ["add"] }], never: false },
])("a plugin whose conditions want $name is never asked: $never", async ({ conditions, never }) => {
  const entry = { name: "p", kind: "own", hooks: ["tool_pre_invoke"], conditions };
  const off = { ...entry, name: "off", mode: "disabled" };
  const found = findUnasked(await readPluginsConfig(JSON.stringify({ plugins: [entry, off] })));
  expect(found).toEqual(never ? [{ plugin: "p", message: expect.stringContaining("it is never asked") }] : []);
});

partTest("python3")(
  "a hook that a gateway does not run and a condition that cannot hold are told by doctor",
  async () => {
    const hooks = "tool_pre_invoke, agent_pre_invoke";
    await using place = await pluginPlace({ p: entryOf("Guard", hooks, ", conditions: [{ user_patterns: [admin] }]") });
    const { stdout } = await gateway(["doctor", "--config", place.config, "--state", place.state]);
    expect(stdout).toContain(
      "note  plugin p: a gateway does not run its agent_pre_invoke: there is no such step here\n",
    );
    expect(stdout).toContain("note  plugin p: it is never asked: each of its conditions wants a user");
  },
);
