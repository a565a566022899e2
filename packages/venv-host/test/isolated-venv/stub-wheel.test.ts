import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { partTest, scratchFolder } from "../../../../fixtures/parts.js";
import { callOf, entryOf, openPlugin, temporaryFolder } from "./plugins.js";

const uv = join(scratchFolder, "uv", "bin", "uv");
const maker = fileURLToPath(new URL("../../../../fixtures/cpex-stub/make_wheel.py", import.meta.url));

partTest("uv")(
  "the stub is a wheel that uv installs without a network, and its worker runs from there",
  async () => {
    const folder = temporaryFolder();
    const path = join(folder, ".venv");
    const python = join(path, "bin", "python");
    execFileSync("python3", [maker, folder, "0.1.4"]);
    execFileSync("python3", ["-m", "venv", "--without-pip", path]);
    const offline = ["--offline", "--no-index", "--find-links", folder, "--no-cache"];
    execFileSync(uv, ["pip", "install", "--quiet", "--python", python, ...offline, "cpex==0.1.4"]);
    const plugin = await openPlugin(entryOf("Echo"), { environment: { path, python, close: async () => undefined } });
    expect(await plugin.call(callOf({}), {})).toMatchObject({ metadata: { hook: "tool_pre_invoke" } });
  },
  60_000,
);
