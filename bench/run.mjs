// `npm run bench [-- FILTER…]`: every bench file of the workspace, one at a time in a process of its own, as ratios
// against floors and peers that were measured in the same run. Nothing here fails for being slow; a peer that does
// not start is an error.
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const filters = process.argv.slice(2);
const files = globSync(["packages/*/bench/*.bench.mjs", "apps/*/bench/*.bench.mjs"], { cwd: root })
  .sort()
  .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)));

const runner = `
  const { run } = await import(process.argv[1]);
  for (const row of await run()) {
    const verdict = row.target === undefined ? "     " : row.holds ? "holds" : "MISS ";
    const figure = (value) => (typeof value === "number" ? Number(value.toPrecision(4)) : value);
    console.log([verdict, row.name.padEnd(64), row.unit === undefined ? "ratio " + figure(row.ratio) : figure(row.ratio) + " " + row.unit, row.target === undefined ? "" : "target " + row.target,
      "ours " + figure(row.ours) + ", other " + figure(row.other), row.spread ?? ""].filter(Boolean).join("  "));
  }`;

console.log(
  `Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model.trim()}); median of five interleaved runs, spread beside`,
);
let broken = 0;
for (const file of files) {
  console.log(`\n${file}`);
  const run = spawnSync(process.execPath, ["--input-type=module", "-e", runner, join(root, file)], {
    cwd: root,
    stdio: "inherit",
  });
  if (run.status !== 0) {
    console.error(`bench: ${file} did not finish (exit ${run.status ?? run.signal})`);
    broken += 1;
  }
}
process.exit(broken === 0 && files.length > 0 ? 0 : 1);
