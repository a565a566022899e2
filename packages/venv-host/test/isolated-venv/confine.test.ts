import { existsSync, mkdirSync, readlinkSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import type { Confine, ConfinePolicy } from "../../src/confine.js";
import { callOf, entryOf, makeCwd, makeEnvironment, openPlugin, temporaryFolder } from "./plugins.js";

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

/** A plain sandbox of the test's own: what the policy names and the system, nothing else. */
const bubblewrap: Confine = async (argv, { readable, writable, network, cwd }) => {
  const links = ["/bin", "/lib", "/lib64", "/sbin"].filter((path) => existsSync(path));
  return {
    argv: [
      ...["bwrap", "--unshare-all", ...(network === "host" ? ["--share-net"] : []), "--die-with-parent"],
      ...["--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"],
      ...links.flatMap((path) => ["--symlink", readlinkSync(path), path]),
      ...["--dir", cwd],
      ...readable.flatMap((path) => ["--ro-bind", path, path]),
      ...writable.flatMap((path) => ["--bind", path, path]),
      ...["--chdir", cwd, "--", ...argv],
    ],
    confinement: "bubblewrap",
    release: async () => undefined,
  };
};

const attempts = `
import socket
class Tries:
    def __init__(self, config):
        self.config = config["config"]
    def attempt(self, action):
        try:
            action()
            return "done"
        except OSError as error:
            return "refused"
    def tool_pre_invoke(self, payload, context):
        where = payload["args"]
        def connect():
            socket.create_connection(("127.0.0.1", where["port"]), timeout=5).close()
        return {"metadata": {
            "data": self.attempt(lambda: open(where["data"], "w").close()),
            "plugins": self.attempt(lambda: open(where["plugins"], "w").close()),
            "secret": self.attempt(lambda: open(where["secret"]).close()),
            "network": self.attempt(connect),
        }}
`;

describe("a real sandbox", () => {
  partTest("bubblewrap", "pid-namespace")(
    "has room for the worker, and not for what its policy leaves out",
    async () => {
      const cwd = makeCwd();
      const data = temporaryFolder();
      mkdirSync(join(cwd, "plugins", "tries"));
      writeFileSync(join(cwd, "plugins", "tries", "__init__.py"), attempts);
      writeFileSync(join(cwd, "secret"), "of the host");
      const { createServer } = await import("node:net");
      const server = createServer((socket) => socket.end()).listen(0, "127.0.0.1");
      await new Promise((resolve) => server.once("listening", resolve));
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      const args = { data: join(data, "x"), plugins: join(cwd, "plugins", "x"), secret: join(cwd, "secret"), port };
      try {
        const outcomes: unknown[] = [];
        for (const confine of [false, { writable: [data] }]) {
          const entry = entryOf("", { config: { class_name: "tries.Tries", confine } });
          const plugin = await openPlugin(entry, { cwd, confine: bubblewrap });
          outcomes.push((await plugin.call(callOf({ name: "t", args }), {})).metadata);
        }
        expect(outcomes).toEqual([
          { data: "done", plugins: "done", secret: "done", network: "done" },
          { data: "done", plugins: "refused", secret: "refused", network: "refused" },
        ]);
      } finally {
        server.close();
      }
    },
  );
});
