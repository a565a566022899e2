import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect } from "vitest";
import { partTest, scratchFolder } from "../../../fixtures/parts.js";

// Before what reads it: with uv the environment is there in a fifth of the time.
process.env["PATH"] = `${join(scratchFolder, "uv", "bin")}:${process.env["PATH"] ?? ""}`;
const { run } = await import("./plugin-host.js");

const folder = realpathSync(mkdtempSync(join(tmpdir(), "bph-published-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Plugins from PyPI: the class, and the hook that is tried. */
const published = [
  { root: "cpex_pii_filter", className: "pii_filter.PIIFilterPlugin", hook: "tool_pre_invoke" },
  { root: "cpex_secrets_detection", className: "secrets_detection.SecretsDetectionPlugin", hook: "tool_pre_invoke" },
  {
    root: "cpex_output_length_guard",
    className: "output_length_guard.OutputLengthGuardPlugin",
    hook: "tool_post_invoke",
  },
] as const;

const options = ["--cwd", folder, "--state", join(folder, "state"), "--wheels", join(scratchFolder, "cpex-wheels")];

/** An entry and a line of requirements for each, and nothing else. */
function configOf({ root, className, hook }: (typeof published)[number], more = ""): string {
  const home = join(folder, "plugins", root);
  mkdirSync(home, { recursive: true });
  // The same for all, so that they share one environment; a plugin alone needs its own line only.
  const lines = published.map((each) => each.root.replaceAll("_", "-"));
  writeFileSync(join(home, "requirements.txt"), lines.map((line) => `${line}\n`).join(""));
  const config = `class_name: ${root}.${className}, requirements_file: requirements.txt${more}`;
  const file = join(folder, `${root}.yaml`);
  writeFileSync(
    file,
    `plugins:\n  - { name: ${root}, kind: isolated_venv, hooks: [${hook}], config: { ${config} } }\n`,
  );
  return file;
}

async function invoke(config: string, hook: string, payload: object): Promise<unknown> {
  const args = ["invoke", hook, "--config", config, "--payload", "-", "--json", ...options];
  const { code, stdout, stderr } = await run(args, JSON.stringify(payload));
  expect([0, 3], stderr).toContain(code);
  return { code, ...JSON.parse(stdout) };
}

describe("plugins from PyPI, unchanged, by the command line", () => {
  const test = partTest("cpex-wheels", "uv");

  test("cpex-pii-filter masks what it finds", async () => {
    const config = configOf(published[0]);
    const built = await run(["venv", "build", "--config", config, "--json", ...options]);
    expect(built, built.stderr).toMatchObject({ code: 0 });
    const outcome = await invoke(config, "tool_pre_invoke", { name: "t", args: { text: "write to ann@example.org" } });
    expect(outcome).toMatchObject({ code: 0, executions: [{ plugin: "cpex_pii_filter", status: "modified" }] });
    expect(JSON.stringify(outcome)).not.toContain("ann@example.org");
  }, 240_000);

  test("cpex-secrets-detection denies a secret, and lets other words pass", async () => {
    const config = configOf(published[1]);
    const secret = ["AKIA", "FAKEFAKE12345678"].join("");
    const denied = await invoke(config, "tool_pre_invoke", { name: "t", args: { text: secret } });
    expect(denied).toMatchObject({ code: 3, allowed: false, violation: { plugin: "cpex_secrets_detection" } });
    expect(await invoke(config, "tool_pre_invoke", { name: "t", args: { text: "hello" } })).toMatchObject({ code: 0 });
  }, 240_000);

  test("cpex-output-length-guard cuts a long answer", async () => {
    const config = configOf(published[2], ", max_chars: 100");
    const result = { content: [{ type: "text", text: "a".repeat(5_000) }] };
    const outcome = await invoke(config, "tool_post_invoke", { name: "t", result });
    expect(outcome).toMatchObject({ code: 0, executions: [{ status: "modified" }] });
    expect(JSON.stringify(outcome).length).toBeLessThan(2_000);
  }, 240_000);
});
