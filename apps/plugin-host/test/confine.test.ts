import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { partsForAll, partTest } from "../../../fixtures/parts.js";
import { entryOf, makeWorld } from "./plugin-host.js";

const isReady = partsForAll("python3-venv");
const world = makeWorld();
const free = world.config("free.yaml", { look: entryOf("filters.Look") });

describe("a worker with `confine`", { timeout: 100_000 }, () => {
  partTest("bubblewrap")(
    "sees its plugins, and neither the host's files nor the network; without it all of it",
    async () => {
      const secret = join(world.folder, "secret.txt");
      const code = join(world.folder, "plugins", "my_pkg", "filters.py");
      writeFileSync(secret, "nobody else's");
      const port = await listen();
      const args = { paths: [secret, code, join(world.state, "format.json")], port };
      const look = async (config: string): Promise<unknown> => {
        const invoke = ["invoke", "tool_pre_invoke", "--config", config, "--payload", "-", "--json"];
        const { stdout } = await world.run(invoke, JSON.stringify({ name: "look", args }));
        return JSON.parse(stdout);
      };
      const open = Object.fromEntries(args.paths.map((path) => [path, "open"]));
      // The control: what is refused below can be done.
      expect(await look(free)).toMatchObject({ allowed: true, payload: { args: { ...open, connect: "open" } } });
      const confined = world.config("confined.yaml", { look: entryOf("filters.Look", ", confine: true") });
      expect(await look(confined)).toMatchObject({
        allowed: true,
        payload: {
          args: {
            [code]: "open",
            [secret]: "FileNotFoundError",
            [join(world.state, "format.json")]: "FileNotFoundError",
            connect: "ConnectionRefusedError",
          },
        },
      });
    },
  );

  it("is refused with the network of the host, before anything is started", async () => {
    const config = world.config("host.yaml", { look: entryOf("filters.Look", ", confine: { network: host }") });
    const { code, stderr } = await world.run(["venv", "build", "--config", config]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("config.confine.network: a confined worker cannot have host here"),
    ]);
  });
});

beforeAll(async () => {
  if (!isReady) return;
  expect(await world.run(["venv", "build", "--config", free])).toMatchObject({ code: 0 });
}, 120_000);

/** A listener of the host's, which outlives no test. */
function listen(): Promise<number> {
  const server = createServer((socket) => socket.destroy());
  onTestFinished(() => void server.close());
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}
