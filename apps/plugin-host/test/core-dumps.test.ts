import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { entryOf, makeWorld } from "./plugin-host.js";

const world = makeWorld();

const source = `
class Core:
    def __init__(self, config):
        pass
    async def identity_resolve(self, payload, context):
        import resource, sys
        claims = {"core": list(resource.getrlimit(resource.RLIMIT_CORE)), "script": sys.argv[0]}
        return {"continue_processing": True, "modified_payload": {"subject": {"id": "ada", "type": "user"}, "raw_claims": claims}}
`;

partTest("bubblewrap", "python3-venv", "pid-namespace")(
  "a confined worker with a token writes no core file either",
  async () => {
    appendFileSync(join(world.folder, "plugins", "my_pkg", "filters.py"), source);
    const config = world.config("core.yaml", {
      core: `${entryOf("filters.Core", ", confine: true", "identity_resolve")}, capabilities: [read_inbound_credentials]`,
    });
    const credentials = join(world.folder, "credentials.json");
    writeFileSync(credentials, JSON.stringify({ inbound: [{ token: "tok-4f1e9c77d0a84be2" }] }));
    const args = ["invoke", "identity_resolve", "--config", config, "--payload", "-", "--json"];
    const { stdout, stderr } = await world.run(
      [...args, "--credentials", credentials],
      JSON.stringify({ source: "bearer", headers: {} }),
    );
    expect(JSON.parse(stdout), stderr).toMatchObject({
      allowed: true,
      result: {
        raw_claims: { core: [expect.any(Number), expect.any(Number)], script: expect.stringMatching(/worker\.py$/u) },
      },
    });
    const { core } = JSON.parse(stdout).result.raw_claims;
    expect(Math.max(...core)).toBeLessThanOrEqual(1);
    expect(Math.min(...core)).toBeGreaterThanOrEqual(0); // -1: without a limit
  },
  100_000,
);
