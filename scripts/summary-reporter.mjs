// A vitest reporter that closes the run with what was skipped and why, and with one plain line of counts.
// BERTH_COUNTS names a file that receives the counts as JSON, for scripts that add up several runs.
import { writeFileSync } from "node:fs";

export default class SummaryReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    const skips = new Map();
    for (const module of modules) {
      if (module.state() === "failed" && module.errors().length > 0) counts.failed += module.errors().length;
      for (const test of module.children.allTests()) {
        const { state, note } = test.result();
        if (state === "passed") counts.passed += 1;
        else if (state === "failed") counts.failed += 1;
        else {
          counts.skipped += 1;
          const reason = note ?? "marked as skipped in the file, without a reason";
          skips.set(reason, [...(skips.get(reason) ?? []), test.fullName]);
        }
      }
    }
    if (skips.size > 0) console.log("\nSkipped:");
    for (const [reason, names] of skips) {
      console.log(`  ${reason}`);
      for (const name of names) console.log(`    - ${name}`);
    }
    console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
    if (process.env.BERTH_COUNTS !== undefined) writeFileSync(process.env.BERTH_COUNTS, JSON.stringify(counts));
  }
}
