import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { describe, expect } from "vitest";
import { partTest, scratchFolder } from "../../../fixtures/parts.js";
import { connect, gateway, logEntries, workplace } from "./gateway.js";

const test = partTest("cpex-wheels", "uv");
const wheels = join(scratchFolder, "cpex-wheels");
const everything = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");
/** uv, as on a machine where plugins are run. */
const env = { PATH: [join(scratchFolder, "uv", "bin"), process.env["PATH"]].join(delimiter) };

const requirements =
  "cpex==0.1.4\ncpex-pii-filter==0.3.9\ncpex-secrets-detection==0.3.14\ncpex-output-length-guard==0.1.2\n";
const entry = (name: string, className: string, hook: string, more = ""): string => `  - name: ${name}
    kind: isolated_venv
    hooks: [${hook}]
    config: { class_name: ${className}, requirements_file: requirements.txt, timeout_secs: 60${more} }
`;
const plugins = [
  entry("secrets", "cpex_secrets_detection.secrets_detection.SecretsDetectionPlugin", "tool_pre_invoke"),
  entry("pii", "cpex_pii_filter.pii_filter.PIIFilterPlugin", "tool_post_invoke"),
  entry(
    "length",
    "cpex_output_length_guard.output_length_guard.OutputLengthGuardPlugin",
    "tool_post_invoke",
    ", max_chars: 200",
  ),
].join("");

describe("published plugins of the real framework, through `run` and a published server", () => {
  test("refuse a secret in arguments, mask what is personal in a result, and cut a long one", async () => {
    await using place = await workplace();
    const config = join(place.folder, "gateway.yaml");
    await writeFile(config, `plugins: { file: plugins.yaml, wheels: [${JSON.stringify(wheels)}] }\n`);
    await writeFile(
      join(place.folder, "plugins.yaml"),
      `plugins:\n${plugins}plugin_settings: { plugin_timeout: 60 }\n`,
    );
    for (const root of ["cpex_secrets_detection", "cpex_pii_filter", "cpex_output_length_guard"]) {
      await mkdir(join(place.folder, "plugins", root), { recursive: true });
      await writeFile(join(place.folder, "plugins", root, "requirements.txt"), requirements);
    }
    const run = ["run", "--config", config, "--state", place.state, "--", process.execPath, everything, "stdio"];
    const first = await gateway(["doctor", "--config", config, "--state", place.state], { env });
    expect(first.stdout).toContain("is built at its first use");
    const made = await gateway(["plugins", "--config", config, "--state", place.state], { env, timeoutMs: 200_000 });
    expect(made).toMatchObject({ code: 0 });
    await using gate = await connect(run, { env });
    const echo = async (message: string): Promise<string> =>
      JSON.stringify(await gate.client.callTool({ name: "echo", arguments: { message } }));
    const secret = ["AKIA", "FAKEFAKE12345678"].join("");
    await expect(echo(`key ${secret}`)).rejects.toMatchObject({
      code: -31103,
      data: { reason: "HOOK_DENIED", plugin: "secrets", code: expect.stringMatching(/./u) },
    });
    const masked = await echo("write to ann@example.org, ssn 123-45-6789");
    expect(masked).toContain("[REDACTED]");
    expect(masked).not.toMatch(/ann@example|123-45/u);
    expect((await echo("a".repeat(5_000))).length).toBeLessThan(1_000);
    expect(await echo("hello")).toContain("Echo: hello");
    await gate.close();
    const entries = await logEntries(place.state);
    const decided = entries.filter(({ type }) => type === "hook.decision");
    expect(decided.some(({ plugin, status }) => plugin === "secrets" && status === "denied")).toBe(true);
    expect(decided.some(({ plugin, status }) => plugin === "pii" && status === "modified")).toBe(true);
    expect(decided.some(({ plugin, status }) => plugin === "length" && status === "modified")).toBe(true);
    const environments = entries.filter(({ type }) => type === "plugin.environment");
    expect(new Set(environments.map(({ environmentDigest }) => environmentDigest)).size).toBe(1);
    expect(String(environments[0]?.["distributions"])).toContain(`cpex-pii-filter==0.3.9`);
    expect(JSON.stringify(entries)).not.toContain(secret);
  }, 240_000);
});
