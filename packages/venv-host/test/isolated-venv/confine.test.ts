import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import type { Confine, ConfinePolicy } from "../../src/confine.js";
import { callOf, entryOf, makeCwd, makeEnvironment, openPlugin } from "./plugins.js";

const confined = (confine: unknown) => ({
  config: {
    class_name: "cpex_stub.Environment",
    ...(confine === true ? { confine } : { confine: { writable: ["/data"], network: "host" as const } }),
  },
});

/** Stands for a sandbox: shows that the command went through it. */
const viaEnv =
  (policies: ConfinePolicy[], released: () => void): Confine =>
  async (argv, policy) => {
    policies.push(policy);
    return {
      argv: ["/usr/bin/env", "CONFINED=1", ...argv],
      confinement: "test-sandbox",
      release: async () => released(),
    };
  };

describe("confinement", () => {
  it("carries the worker out, with the policy of the plugin, and is freed with it", async () => {
    const policies: ConfinePolicy[] = [];
    let released = 0;
    const [cwd, environment] = [makeCwd(), makeEnvironment()];
    const plugin = await openPlugin(entryOf("", confined(true)), {
      cwd,
      environment,
      confine: viaEnv(policies, () => (released += 1)),
    });
    expect(await plugin.call(callOf({}), {})).toMatchObject({ metadata: { env: { CONFINED: "1" } } });
    expect(policies).toMatchObject([{ name: "plugin the-plugin", network: "none", writable: [], cwd }]);
    const base = dirname(dirname(realpathSync(environment.python)));
    const readable = [environment.path, `${cwd}/plugins`, ...(base === "/usr" ? [] : [base])];
    expect(policies[0]?.readable).toEqual(expect.arrayContaining(readable));
    expect(policies[0]?.readable).not.toContain(cwd);
    expect(plugin.evidence).toMatchObject({ workerConfinement: "test-sandbox" });
    await plugin.close();
    expect(released).toBe(1);
  });

  it("takes what the entry names", async () => {
    const policies: ConfinePolicy[] = [];
    await openPlugin(entryOf("", confined("paths")), { confine: viaEnv(policies, () => undefined) });
    expect(policies).toMatchObject([{ network: "host", writable: ["/data"] }]);
  });

  it("that this machine cannot hold starts nothing", async () => {
    const environment = makeEnvironment();
    const opened = openPlugin(entryOf("", confined(true)), {
      environment,
      confine: async () => Promise.reject(new Error("no bubblewrap here")),
    });
    await expect(opened).rejects.toMatchObject({ code: "WORKER_START_FAILED", message: /no bubblewrap here/u });
    expect(environment.closed()).toBe(1);
  });

  it("is not used for a plugin that does not ask for it", async () => {
    const policies: ConfinePolicy[] = [];
    const plugin = await openPlugin(entryOf("Environment"), { confine: viaEnv(policies, () => undefined) });
    expect(policies).toEqual([]);
    expect(plugin.evidence).toMatchObject({ workerConfinement: "none" });
  });
});
