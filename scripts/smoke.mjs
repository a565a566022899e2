// `npm run smoke`: the contract of each package, from its built files, on every Node that libraries promise to run on.
// The binaries come from `node scripts/parts.mjs node`; without them only the Node that runs this script is tried.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const binaries = join(root, ".scratch", "node");
const brought = existsSync(binaries)
  ? readdirSync(binaries).map((major) =>
      join(binaries, major, "node_modules", `node-linux-${process.arch}`, "bin", "node"),
    )
  : [];
if (brought.length === 0) {
  const message = "no Node binaries in .scratch/node: run `node scripts/parts.mjs node`";
  if (process.env.BERTH_REQUIRE === "all") {
    console.error(`smoke: ${message}`);
    process.exit(1);
  }
  console.error(`smoke: ${message}; trying only ${process.version}`);
}

const files = globSync("packages/*/smoke/*.mjs", { cwd: root }).sort();
const counts = { passed: 0, failed: 0, skipped: 0 };
for (const node of brought.length === 0 ? [process.execPath] : brought) {
  const version = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim();
  const run = spawnSync(node, ["--test", "--test-reporter=tap", ...files], {
    cwd: root,
    encoding: "utf8",
    timeout: 300_000,
  });
  const count = (word) => Number(new RegExp(`^# ${word} (\\d+)$`, "m").exec(run.stdout)?.[1] ?? 0);
  const failed = count("fail") + count("cancelled") + (run.status === 0 || count("fail") > 0 ? 0 : 1);
  console.log(`${failed === 0 ? "ok  " : "FAIL"} Node ${version}: ${count("pass")} passed, ${failed} failed`);
  if (failed > 0) console.log(run.stdout, run.stderr);
  counts.passed += count("pass");
  counts.failed += failed;
  counts.skipped += count("skipped");
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
if (process.env.BERTH_COUNTS !== undefined) writeFileSync(process.env.BERTH_COUNTS, JSON.stringify(counts));
process.exit(counts.failed === 0 && files.length > 0 ? 0 : 1);
