import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { bin, entryOf, makeWorld } from "./plugin-host.js";

const world = makeWorld();
const config = world.config("plugins.yaml", { guard: entryOf("filters.Guard") });
const payload = join(world.folder, "payload.json");
writeFileSync(payload, '{"name":"add"}');
const disk = join(world.folder, "disk");
mkdirSync(disk);

/** Where / is no mount point, as in a bare chroot, unshare cannot make it private, and there is no need to. */
const propagation = spawnSync("unshare", ["--mount", "true"]).status === 0 ? [] : ["--propagation", "unchanged"];
const mount = 'mount -t tmpfs -o size=64k tmpfs "$DISK"';

/** Runs a command once a disk was made ready by a shell, in mounts of its own. */
function runUnder(shell: string, args: readonly string[]): { readonly code: number | null; readonly text: string } {
  const script = `${mount} && { ${shell}; } >/dev/null && exec "$@"`;
  const state = ["--state", join(disk, "above", "state")];
  const command = [process.execPath, bin, ...args, "--config", config, "--cwd", world.folder, ...state];
  const { status, stdout, stderr } = spawnSync(
    "unshare",
    ["--mount", ...propagation, "sh", "-c", script, "sh", ...command],
    {
      encoding: "utf8",
      timeout: 60_000,
      env: { PATH: process.env["PATH"] ?? "", DISK: disk, STATE: join(disk, "above", "state") },
    },
  );
  return { code: status, text: stdout + stderr };
}

const readOnly = 'mount -o remount,ro "$DISK"';
const withState = 'mkdir -m 700 -p "$STATE" && printf %s \'{"format":1}\' > "$STATE/format.json"';
const full = 'dd if=/dev/zero of="$DISK/fill" bs=1k 2>/dev/null || true';

describe("a disk for the state folder that cannot be written or is full", { timeout: 240_000 }, () => {
  const test = partTest("ordinary-user", "util-linux");
  const invoke = ["invoke", "tool_pre_invoke", "--payload", payload];
  test("is named by its cause, once", () => {
    const cases = [
      { when: readOnly, args: invoke, code: 2, says: /EROFS/gu },
      { when: readOnly, args: ["venv", "doctor"], code: 1, says: /EROFS/gu },
      { when: `${withState} && ${readOnly}`, args: invoke, code: 1, says: /EROFS/gu },
      { when: `${withState} && ${readOnly}`, args: ["venv", "build"], code: 1, says: /EROFS/gu },
      { when: full, args: invoke, code: 2, says: /ENOSPC/gu },
      { when: `${withState} && ${full}`, args: invoke, code: 1, says: /ENOSPC/gu },
    ];
    for (const { when, args, code, says } of cases) {
      const ended = runUnder(when, args);
      expect(ended, when).toMatchObject({ code, text: expect.stringMatching(says) });
      expect(ended.text.match(says), ended.text).toHaveLength(1);
      expect(ended.text).not.toContain("ENOENT");
    }
  });
});
