import { AttestationError } from "../errors.js";
import { printable } from "../measure/byte-path.js";

const shim = /\.(?:cmd|bat|ps1)$/i;

/** Names that npm and pip install as `.cmd` shims, so that the bare name leads to one. */
const shimmed: ReadonlySet<string> = new Set(["npx", "npm", "pnpm", "yarn", "bunx", "tsx"]);

/**
 * Refuses what only cmd.exe could start, and everything else on Windows, where nothing here was ever run.
 * @throws {AttestationError} `WINDOWS_SHIM`, `PLATFORM_UNSUPPORTED`
 */
export function refuseWindows(command: string, platform: string): void {
  if (shim.test(command) || (platform === "win32" && shimmed.has(command))) {
    throw new AttestationError(
      "WINDOWS_SHIM",
      `${printable(command)} is a script for cmd.exe or PowerShell, which would need a shell`,
      {
        advice: 'run what it starts: "command": "node", "args": ["node_modules/PACKAGE/…/index.js"]',
      },
    );
  }
  if (platform !== "win32") return;
  throw new AttestationError("PLATFORM_UNSUPPORTED", "launches cannot be measured on Windows yet", {
    advice: "run the gateway under WSL 2, or on Linux or macOS",
  });
}
