import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, describe as suite } from "vitest";
import { isAttestationError, measureLaunch, type SpawnDescription } from "../src/index.js";
import { refuseWindows } from "../src/resolve/windows.js";
import { testFolder } from "./support/folder.js";
import { describe, env } from "./support/launch.js";
import { sourceMeasurer } from "./support/source-measurer.js";

const measurer = sourceMeasurer();
afterAll(() => measurer.close());

async function refused(description: SpawnDescription): Promise<{ code: string; advice: string; message: string }> {
  try {
    await measureLaunch(description, { measurer });
  } catch (error) {
    if (isAttestationError(error)) return { code: error.code, advice: error.advice ?? "", message: error.message };
    throw error;
  }
  throw new Error("was measured");
}

/** A program of that name which would tell if it were run, in front of PATH. */
function withProgram(name: string): { env: Record<string, string>; folder: string } {
  const folder = testFolder({ [`bin/${name}`]: { program: "#!/bin/sh\ntouch ran\n" } });
  return { env: { PATH: `${join(folder, "bin")}:${env["PATH"]}` }, folder };
}

suite("launchers have no target on disk", () => {
  it.each([
    {
      line: "npx -y @scope/server@1.2 /tmp",
      advice: /npm install @scope\/server@1\.2\).*"node_modules\/@scope\/server\/…\/index\.js"/,
    },
    { line: "npx --package=x server", advice: /npm install server/ },
    { line: "npx -p other-package server", advice: /npm install other-package/ },
    { line: "npm exec server", advice: /npm install server/ },
    { line: "pnpm dlx server", advice: /npm install server/ },
    { line: "yarn dlx server", advice: /npm install server/ },
    { line: "bunx server", advice: /npm install server/ },
    { line: "uvx mcp-server-time --local-timezone X", advice: /uv tool install mcp-server-time/ },
    { line: "uvx --from git-package mcp-server", advice: /uv tool install git-package/ },
    { line: "pipx run server", advice: /pip install server/ },
    { line: "uv --directory /x run server.py", advice: /\.venv\/bin\/python/ },
    { line: "poetry run server", advice: /\.venv\/bin\/python/ },
    { line: "docker run -i --rm image", advice: /server's own program/ },
    { line: "podman run image", advice: /server's own program/ },
    { line: "ssh host server", advice: /streamable-http/ },
    { line: "cmd /c npx server", advice: /in command/ },
    { line: "powershell -Command x", advice: /in command/ },
    { line: "mise exec -- node server.js", advice: /mise which NAME/ },
    { line: "tsx server.ts", advice: /node --import tsx/ },
    { line: "sudo node server.js", advice: /in command/ },
    { line: "timeout 5 node server.js", advice: /in command/ },
    { line: "busybox sh server.sh", advice: /in command/ },
  ])("$line is refused with advice, and nothing runs", async ({ line, advice }) => {
    const [command = "", ...args] = line.split(" ");
    const place = withProgram(command);
    const refusal = await refused(describe(command, args, { env: place.env, cwd: place.folder }));
    expect(refusal.code).toBe("LAUNCHER_WITHOUT_TARGET");
    expect(refusal.advice).toMatch(advice);
    expect(existsSync(join(place.folder, "ran"))).toBe(false);
  });

  it.each(["uvx mcp-server-time", "npx -y server", "/nowhere/bin/pipx run server"])(
    "%s is refused with the same advice when the launcher itself is not installed",
    async (line) => {
      const [command = "", ...args] = line.split(" ");
      const refusal = await refused(describe(command, args, { env: { PATH: "/nowhere" }, cwd: testFolder() }));
      expect(refusal.code).toBe("LAUNCHER_WITHOUT_TARGET");
    },
  );

  it("also behind a link with another name, and as the script of node", async () => {
    const folder = testFolder({
      "npm/bin/npx-cli.js": { program: "#!/usr/bin/env node\n" },
      start: { link: "npm/bin/npx-cli.js" },
    });
    expect((await refused(describe("./start", ["server"], { cwd: folder, env }))).code).toBe("LAUNCHER_WITHOUT_TARGET");
    const byNode = await refused(describe("node", ["npm/bin/npx-cli.js", "server"], { cwd: folder, env }));
    expect(byNode.code).toBe("LAUNCHER_WITHOUT_TARGET");
  });

  it("measureTarget does not make a launcher measurable", async () => {
    const place = withProgram("npx");
    const more = { env: place.env, cwd: place.folder, measureTarget: "/bin/true", allowTargetOutsideArgv: true };
    expect((await refused(describe("npx", ["server"], more))).code).toBe("LAUNCHER_WITHOUT_TARGET");
  });

  it("what a hostile configuration names goes into no line that a person may paste", async () => {
    const place = withProgram("npx");
    const refusal = await refused(describe("npx", ["-y", "x;rm -rf ~"], { env: place.env, cwd: place.folder }));
    expect(refusal.advice).not.toContain("rm -rf");
  });
});

suite("code on the command line", () => {
  it.each([
    ["sh", "-c", "echo x"],
    ["bash", "-lc", "echo x"],
    ["node", "-e", "1"],
    ["node", "--eval=1", ""],
    ["perl", "-e", "1"],
  ])("%s %s is refused with advice", async (command, ...args) => {
    const refusal = await refused(describe(command, args, { env }));
    expect(refusal).toMatchObject({ code: "CODE_ON_COMMAND_LINE", advice: expect.stringContaining("file") });
  });

  it("stays refused when a target outside argv is allowed", async () => {
    const more = { env, measureTarget: "/bin/true", allowTargetOutsideArgv: true };
    expect((await refused(describe("sh", ["-c", "true"], more))).code).toBe("CODE_ON_COMMAND_LINE");
  });
});

suite("Windows", () => {
  it.each([
    { command: "npx", platform: "win32", code: "WINDOWS_SHIM" },
    { command: "C:\\tools\\server.cmd", platform: "win32", code: "WINDOWS_SHIM" },
    { command: "server.BAT", platform: "linux", code: "WINDOWS_SHIM" },
    { command: "server.ps1", platform: "darwin", code: "WINDOWS_SHIM" },
    { command: "node.exe", platform: "win32", code: "PLATFORM_UNSUPPORTED" },
  ])("$command on $platform is refused with $code and advice", ({ command, platform, code }) => {
    const refusal = expect.objectContaining({ code, advice: expect.stringMatching(/.+/) });
    expect(() => refuseWindows(command, platform)).toThrow(refusal);
  });

  it("nothing is said of other commands elsewhere", () => {
    expect(() => refuseWindows("npx", "linux")).not.toThrow();
  });
});
