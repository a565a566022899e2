// `npm run soak [-- FILTER…]`: the test suite with its full counts (sessions, kills, generated inputs). Takes up to an hour on two cores.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const run = spawnSync(join(root, "node_modules", ".bin", "vitest"), ["run", ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, BERTH_SOAK: "1" },
});
process.exit(run.status ?? 1);
