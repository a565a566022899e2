import { readdirSync, readFileSync } from "node:fs";
import { beforeAll, expect, it } from "vitest";
import { partsForAll, partTest } from "../../../fixtures/parts.js";
import { entryOf, makeWorld, serve } from "./plugin-host.js";

const isReady = partsForAll("python3-venv");
const world = makeWorld();
const config = world.config("plugins.yaml", { guard: entryOf("filters.Guard") });
const confined = world.config("confined.yaml", { guard: entryOf("filters.Guard", ", confine: true") });

beforeAll(async () => {
  if (!isReady) return;
  expect(await world.run(["venv", "build", "--config", config])).toMatchObject({ code: 0 });
}, 120_000);

/** Commands of living processes that name this world: its environments, or the policy of a sandbox. */
function living(): readonly string[] {
  const numbers = readdirSync("/proc").filter((name) => /^\d+$/u.test(name));
  return numbers.map(commandOf).filter((command) => command.includes(world.folder));
}

function commandOf(number: string): string {
  try {
    return readFileSync(`/proc/${number}/cmdline`, "utf8");
  } catch {
    return ""; // it ended meanwhile
  }
}

async function leavesNothing(plugins: string): Promise<void> {
  const served = await serve(world, ["--config", plugins]);
  expect(living().some((command) => command.includes("worker.py"))).toBe(true);
  await served.kill();
  await expect.poll(living, { timeout: 60_000 }).toEqual([]);
}

it("a worker does not outlive a program that was killed", () => leavesNothing(config), 100_000);
partTest("bubblewrap")("nor does one in a sandbox, nor its launcher", () => leavesNothing(confined), 100_000);
