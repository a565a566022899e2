import { expect } from "vitest";
import { isPluginHostError, readPluginsConfig } from "../../src/executor.js";

/** Every fault of a plugins.yaml; none when it can be read. */
export async function faultsOf(text: string): Promise<readonly string[]> {
  try {
    await readPluginsConfig(text, { file: "plugins.yaml" });
    return [];
  } catch (error) {
    if (!isPluginHostError(error) || error.code !== "CONFIG_INVALID") throw error;
    expect(error.message).toContain("plugins.yaml");
    return error.faults;
  }
}
