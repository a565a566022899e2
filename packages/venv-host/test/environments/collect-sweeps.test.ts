import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeWorld } from "./world.js";

it("collect removes what killed builds left, also when nothing else is to go; a trial leaves it", async () => {
  const world = makeWorld("pip");
  const store = await world.open();
  const building = join(world.storePath, "tmp");
  for (const name of [`${"a".repeat(64)}.dead`, `${"b".repeat(64)}.dead`])
    mkdirSync(join(building, name, "venv", "bin"), { recursive: true });
  await store.collect({ maxBytes: 2 ** 40, isTrial: true });
  expect(readdirSync(building)).toHaveLength(2);
  const report = await store.collect({ maxBytes: 2 ** 40 });
  expect([readdirSync(building), report]).toEqual([[], { removed: [], kept: 0, freedBytes: 0, failed: [] }]);
});
