import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { checkPlugin } from "../src/check.js";
import { fixturePlugins, fixturesFolder, skipWithoutPart } from "./support/fixture-plugins.js";

/** The command of fixtures/README.md: writes each transcript instead of comparing with it. */
const record = process.env["BERTH_REWRITE_GOLDEN"] === "1";

// Git does not hold these bits, and a plugin that its group may change is refused.
beforeAll(() => void spawnSync("chmod", ["-R", "go-w", fixturesFolder]));

describe("one host, one script, five languages", () => {
  for (const plugin of fixturePlugins) {
    partTest("bubblewrap", ...plugin.parts)(
      `${plugin.name} answers as its golden transcript says, and ends as it has to`,
      async (context) => {
        skipWithoutPart(context, plugin);
        const { ok, findings, plugin: name } = await checkPlugin({ folder: join(fixturesFolder, plugin.name), record });
        expect(findings.filter(({ outcome }) => outcome !== "passed")).toEqual([]);
        expect({ ok, name }).toEqual({ ok: true, name: "smoke" });
      },
      300_000,
    );
  }

  it("the golden transcripts of all are the same bytes", () => {
    const [first, ...others] = fixturePlugins.map(({ name }) => transcriptOf(name));
    for (const other of others) expect(other).toBe(first);
    expect(first?.split("\n").length).toBeGreaterThan(40);
  });

  it.each([
    "ave/instance/create",
    "ave/instance/start",
    "ave/instance/health",
    "server/discover",
    "tools/list",
    '"name":"echo"',
    '"name":"no_such_tool"',
    "no/such/method",
    "ave/no/such",
    '"name":"escape_secrets"',
    '"name":"escape_network"',
    "ave/instance/stop",
    "ave/instance/destroy",
    '"code":-32602',
    '"code":-32601',
    '"code":-31001',
    "<DATA>",
    "<INSTANCE>",
    "<SECRETS>",
    "<OTHER>",
    "<PORT>",
  ])("the transcript holds %s", (words) => {
    expect(transcriptOf("smoke-shell")).toContain(words);
  });
});

function transcriptOf(name: string): string {
  return readFileSync(join(fixturesFolder, name, "expected.jsonl"), "utf8");
}
