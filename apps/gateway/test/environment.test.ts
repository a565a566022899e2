import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { connect, gateway, logEntries, small, type Workplace, workplace } from "./gateway.js";

const serveArgs = (place: Workplace) => ["serve", "--catalog", place.catalog, "--state", place.state, "--stdio"];
const pin = (place: Workplace, env: Record<string, string> = {}) =>
  gateway(["pin", "--catalog", place.catalog, "--state", place.state, "--yes"], { env });

describe("what a server is given, and what it says besides", { timeout: 60_000 }, () => {
  it("gives a server the safe list and what its entry names, and keeps values out of logs and errors", async () => {
    await using place = await workplace();
    await writeFile(join(place.folder, "token"), "s3cret-from-file\n");
    await place.writeCatalog({
      one: small(place, { env: { FROM_FILE: "file:token", FROM_ENV: "env:HELD" }, inheritEnv: ["NAMED"] }),
    });
    const env = { HELD: "s3cret-from-env", NAMED: "s3cret-named", OTHER_TOKEN: "s3cret-other" };
    await pin(place, env);
    let stderr = "";
    {
      await using gate = await connect(serveArgs(place), { env });
      const result = await gate.client.callTool({ name: "one__environment" });
      expect(JSON.stringify(result)).toMatch(/FROM_ENV,FROM_FILE,HOME,NAMED,.*PATH/u);
      expect(JSON.stringify(result)).not.toContain("OTHER_TOKEN");
      stderr = gate.stderr();
    }
    const entries = await logEntries(place.state);
    expect(entries.find(({ type }) => type === "spawn")).toMatchObject({
      environmentNames: ["FROM_ENV", "FROM_FILE", "NAMED"],
    });
    expect(JSON.stringify(entries) + stderr).not.toContain("s3cret");
  });

  it("does not start when a reference cannot be resolved, and names all of them", async () => {
    await using place = await workplace();
    await place.writeCatalog({
      one: small(place, { env: { A: "env:NOT_SET_A" } }),
      two: small(place, { env: { B: "file:absent" }, inheritEnv: ["NOT_SET_C"] }),
    });
    const { code, stdout, stderr } = await gateway(serveArgs(place));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    for (const name of [
      "servers.one: env.A refers to env:NOT_SET_A",
      "servers.two: env.B refers to file:",
      "servers.two: inheritEnv names NOT_SET_C",
    ]) {
      expect(stderr).toContain(name);
    }
  });

  partTest("python3")(
    "counts what a server writes to stderr, shows it to the operator, and keeps it from the client",
    async () => {
      await using place = await workplace();
      await place.writeCatalog({
        py: {
          transport: "stdio",
          spawn: { command: "python3", args: [join(place.folder, "small", "small_server.py")] },
        },
      });
      await pin(place);
      {
        await using gate = await connect(serveArgs(place));
        expect(await gate.client.callTool({ name: "py__upper", arguments: { text: "abc" } })).toEqual({
          content: [{ type: "text", text: "ABC" }],
        });
        await gate.close();
        expect(gate.stderr()).toContain("DE02120300000000202051");
      }
      const entries = await logEntries(place.state);
      expect(entries.findLast(({ type }) => type === "child.exit")).toMatchObject({
        stderrBytes: "a line about IBAN DE02120300000000202051\n".length,
      });
      expect(JSON.stringify(entries)).not.toContain("DE02120300000000202051");
    },
  );
});
