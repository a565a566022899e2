import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { connect, gateway, logEntries, small, workplace } from "./gateway.js";

const iban = "DE02120300000000202051";

describe("what a server writes to stderr before it dies in a call", () => {
  it("is counted in the client's error and in the log, shown to the operator, and in neither of the two", async () => {
    await using place = await workplace();
    const said = `failed for ${iban}\n`;
    const dies = `(process.stderr.write(${JSON.stringify(said)}), process.exit(7))`;
    const source = await readFile(place.server, "utf8");
    await writeFile(place.server, source.replace(`text(\`\${note}\${said}\`)`, dies));
    await place.writeCatalog({
      one: small(place),
    });
    const common = ["--catalog", place.catalog, "--state", place.state];
    expect(await gateway(["pin", ...common, "--yes"])).toMatchObject({ code: 0 });
    const stderrBytes = `small server is up\n${said}`.length;
    {
      await using gate = await connect(["serve", ...common, "--stdio"]);
      const error: unknown = await gate.client
        .callTool({ name: "one__echo", arguments: { text: "x" } })
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject({
        code: -31102,
        data: { reason: "CHILD_EXITED", server: "one", exitCode: 7, stderrBytes },
      });
      expect(JSON.stringify([error, String(error)])).not.toContain(iban);
      await gate.close();
      expect(gate.stderr()).toContain(iban);
    }
    const entries = await logEntries(place.state);
    expect(entries.findLast(({ type }) => type === "child.exit")).toMatchObject({
      reason: "CHILD_EXITED",
      exitCode: 7,
      stderrBytes,
    });
    expect(JSON.stringify(entries)).not.toContain(iban);
  });
});
