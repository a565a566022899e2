import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createPluginSupervisor } from "@berth/process-plugins";

const fixtures = fileURLToPath(new URL("../../../../fixtures/plugins/", import.meta.url));

/** A copy of a fixture plugin that needs no preparing, and data folders for both sides. */
export function prepare(fixture) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "berth-plugin-bench-")));
  const root = join(folder, "plugin");
  cpSync(join(fixtures, fixture), root, { recursive: true });
  spawnSync("chmod", ["-R", "go-w", root]);
  const data = join(folder, "data");
  for (const name of ["home", "tmp"]) mkdirSync(join(data, name), { recursive: true });
  return {
    root,
    data,
    name: "raw",
    manifestName: "smoke",
    ours: join(folder, "ours"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** As a host holds it. */
export function supervise({ root, ours }) {
  return createPluginSupervisor({
    plugins: [{ name: "smoke", folder: root, dataFolder: ours }],
    host: { name: "bench", version: "1" },
  });
}

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
export const spreadOf = (values) => `${Math.min(...values).toFixed(3)} to ${Math.max(...values).toFixed(3)}`;
