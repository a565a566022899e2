import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { appFolder, bin, plainEnvironment, scratchFolder } from "./shipyard.js";

it("the README's example of an application is in the package, and is served from there", () => {
  const place = scratchFolder();
  execFileSync("npm", ["pack", "--silent", "--pack-destination", place], { cwd: appFolder });
  const [tarball = ""] = readdirSync(place);
  execFileSync("tar", ["-xzf", join(place, tarball), "-C", place]);
  mkdirSync(join(place, "package", "node_modules", "@berth"), { recursive: true });
  symlinkSync(join(appFolder, "../../packages/mcp-server"), join(place, "package/node_modules/@berth/mcp-server"));
  const served = spawnSync(
    process.execPath,
    [bin, "serve", "--application", "./examples/echo.js:createEcho", "--principal", "ada"],
    {
      cwd: join(place, "package"),
      env: plainEnvironment,
      encoding: "utf8",
      timeout: 30_000,
      input: `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`,
    },
  );
  expect(served).toMatchObject({ status: 0, stdout: '{"jsonrpc":"2.0","id":1,"result":{}}\n' });
});
