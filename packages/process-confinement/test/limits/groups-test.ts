import { it, type TestContext } from "vitest";
import { findPlaces } from "../../src/limits/group-place.js";
import { readHierarchies } from "../../src/limits/hierarchies.js";
import { thisLimitsHost } from "../../src/limits/limits-host.js";

/** `it` for tests that make control groups with every controller that we use; skips where this user may not. */
export function groupsTest(title: string, run: (context: TestContext) => unknown, timeout?: number): void {
  it(title, { timeout: timeout ?? 30_000 }, async (context) => {
    if (hasControllers()) return void (await run(context));
    const reason = "needs writable control groups: run as root where /sys/fs/cgroup is writable";
    if (process.env["BERTH_REQUIRE"] === "all") throw new Error(reason);
    context.skip(reason);
  });
}

/** Whether this user can make control groups with every controller that we use. */
export function hasControllers(): boolean {
  const wanted = ["memory", "pids", "cpu"] as const;
  const places = findPlaces(readHierarchies(thisLimitsHost()), wanted);
  return wanted.every((name) => places.some(({ controllers }) => controllers.includes(name)));
}
