// `npm run conformance`: the official conformance suites against the packed server, over HTTP, and the same scenarios over stdio by a runner of ours.
// Ends with one table, and with code 0 only when every scenario of every revision was run and no check failed.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readArguments, usage } from "../fixtures/conformance/run/arguments.mjs";
import { packFixture } from "../fixtures/conformance/run/pack-fixture.mjs";
import { createProgress } from "../fixtures/conformance/run/progress.mjs";
import { counts, printReport } from "../fixtures/conformance/run/report.mjs";
import { allRuns } from "../fixtures/conformance/run/runs.mjs";

const asked = readArguments(process.argv.slice(2), allRuns);
if (asked.isHelp || asked.fault !== undefined) {
  console.log(asked.fault === undefined ? usage(allRuns) : `${asked.fault}\n\n${usage(allRuns)}`);
  process.exit(asked.fault === undefined ? 0 : 2);
}

const scratch = mkdtempSync(join(tmpdir(), "berth-conformance-"));
const abort = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => abort.abort(new Error(`stopped by ${signal}`)));
const progress = createProgress(process.stderr);
const outcomes = [];
try {
  progress.say("packing the server");
  const fixture = await packFixture({ scratch, signal: abort.signal });
  for (const run of asked.runs) {
    const { scenario: only, isHostile } = asked;
    outcomes.push(await run.execute({ fixture, scratch, only, isHostile, signal: abort.signal, progress }));
  }
} catch (error) {
  progress.clear();
  console.error(`conformance: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  progress.clear();
  rmSync(scratch, { recursive: true, force: true });
}

printReport(outcomes);
if (asked.scenario !== undefined && outcomes.every(({ results }) => results.length === 0)) {
  console.log(`no run has a scenario called ${asked.scenario}`);
}
const total = counts(outcomes);
console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
if (process.env.BERTH_COUNTS !== undefined) writeFileSync(process.env.BERTH_COUNTS, JSON.stringify(total));
if (total.failed > 0 || total.passed === 0) process.exitCode = 1;
