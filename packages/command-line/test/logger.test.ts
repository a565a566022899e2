import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { partTest } from "../../../fixtures/parts.js";

const entry = fileURLToPath(new URL("../dist/index.js", import.meta.url));

partTest("python3")("the log at a terminal is readable, and nothing in it acts on the terminal or hides", () => {
  const evil = JSON.stringify("\u001b[2J\u202e");
  const script = `const { createLogger } = await import(${JSON.stringify(entry)}); const log = await createLogger("info");
    log.info({ stderr: ${evil} }, "members " + ${evil}); log.info(${evil}); log.error({ err: new Error(${evil}) }, "fault");
    log.debug("not told");`;
  const driver = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";
  const { stdout, status } = spawnSync(
    "python3",
    ["-c", driver, process.execPath, "--no-warnings", "--input-type=module", "-e", script],
    { env: { PATH: process.env["PATH"], TERM: "xterm" }, encoding: "utf8", timeout: 30_000, input: "" },
  );
  expect(status).toBe(0);
  expect(stdout).toMatch(/\d\d:\d\d:\d\d/u);
  expect(stdout).toContain("fault");
  expect(stdout.match(/\\u\{1b\}\[2J/gu)?.length).toBeGreaterThanOrEqual(4);
  expect(stdout).not.toContain("\u001b[2J");
  expect(stdout).not.toContain("\u202e");
  expect(stdout).not.toContain("not told");
});
