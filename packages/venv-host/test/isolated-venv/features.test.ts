import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { callOf, entryOf, makeEnvironment, openPlugin, taskOf } from "./plugins.js";

describe("a worker without features", () => {
  it.each([
    {
      mode: "old",
      capabilities: ["read_inbound_credentials"],
      missing: /lacks: credential; needed for its capabilities read_inbound_credentials in tool_pre_invoke/u,
    },
    {
      mode: "featureless",
      capabilities: ["read_delegated_tokens"],
      missing: /is of cpex 0.1.4 and lacks: credential/u,
    },
    { mode: "old", capabilities: ["read_labels"], missing: /tells no version and lacks: extensions/u },
    { mode: "featureless", capabilities: ["append_labels"], missing: /lacks: extensions, modified_extensions/u },
    { mode: "mute", capabilities: ["read_headers"], missing: /lacks: extensions/u },
  ])("($mode) is refused a plugin with $capabilities", async ({ mode, capabilities, missing }) => {
    const environment = makeEnvironment(mode);
    // Only the one that says nothing is to be late: a busy machine takes its time for the others.
    const limits = mode === "mute" ? { probeTimeoutMs: 500 } : {};
    const opened = openPlugin(entryOf("Echo", { capabilities }), { environment, limits });
    await expect(opened).rejects.toMatchObject({ code: "CREDENTIAL_ERROR", message: expect.stringMatching(missing) });
    expect(environment.closed()).toBe(1);
  });

  it.each([
    { mode: "old", capabilities: [] },
    { mode: "featureless", capabilities: ["read_client"] },
    { mode: "current", capabilities: ["read_inbound_credentials", "append_labels", "write_headers"] },
  ])("($mode) runs a plugin with $capabilities", async ({ mode, capabilities }) => {
    const plugin = await openPlugin(entryOf("Echo", { capabilities }), { environment: makeEnvironment(mode) });
    expect(await taskOf(plugin, callOf({}))).not.toHaveProperty("credential");
  });

  it("that takes the place of a good one gets no task", async () => {
    const environment = makeEnvironment();
    const plugin = await openPlugin(entryOf("Die", { capabilities: ["read_labels"] }), { environment });
    const version = environment.python.replace(/\.venv\/.*$/u, ".venv");
    const { readdirSync } = await import("node:fs");
    const [lib = ""] = readdirSync(join(version, "lib"));
    writeFileSync(join(version, "lib", lib, "site-packages/cpex/framework/isolated/mode"), "featureless");
    await expect(plugin.call(callOf({}), {})).rejects.toMatchObject({ code: "WORKER_DIED" });
    await expect(plugin.call(callOf({}), {})).rejects.toMatchObject({ code: "CREDENTIAL_ERROR" });
    expect(await plugin.health({})).toMatchObject({ state: "failed" });
  });
});
