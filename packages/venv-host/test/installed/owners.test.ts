import { existsSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { type GotEnvironment, pluginEnvironments } from "../../src/index.js";
import { makeWorld, preferUv, python } from "../environments/world.js";
import { makeInstalled, metadata, ofClass } from "./plugin-folder.js";

const mine = "pii.filters.PiiFilter";

describe("an installed environment that is not valid any more", () => {
  for (const { name, owners } of [
    { name: "nobody owns it", owners: undefined },
    { name: "this class alone owns it", owners: [mine] },
    { name: "this class and another own it", owners: [mine, "pii.other.Other"] },
    { name: "another class owns it", owners: ["pii.other.Other"] },
  ]) {
    partTest("python3", "python3-venv")(
      `is left as it is when ${name}: one is built in the store, once for all classes that ask`,
      async () => {
        const installed = makeInstalled();
        installed.write(ofClass, metadata(installed, { requirements_hash: "0".repeat(64) }));
        if (owners !== undefined) installed.write("owners.json", JSON.stringify({ owners }));
        const before = stateOf(installed.home, installed.cache);
        const world = makeWorld(preferUv());
        const got: GotEnvironment[] = [];
        const acquire = pluginEnvironments({ store: await world.open(), onGot: (one) => void got.push(one) });
        const request = { interpreter: python, requirements: world.requirements };
        const [first, second] = await Promise.all(
          [mine, "pii.other.Other"].map((className) =>
            acquire(request, {}, { name: className, ...installed.options, className }),
          ),
        );
        expect(second?.path).toBe(first?.path);
        const origins = got.map((one) => ("held" in one ? one.held.origin : "installed"));
        expect(origins.sort()).toEqual(["built", "cached"]);
        await Promise.all([first?.close(), second?.close()]);
        expect(stateOf(installed.home, installed.cache)).toEqual(before);
      },
      60_000,
    );
  }
});

/** What a rebuild in place, or another claim, would change. */
function stateOf(home: string, cache: string): unknown {
  const owners = join(cache, "owners.json");
  const { ino, mtimeMs } = lstatSync(join(home, ".venv"));
  const link = lstatSync(join(home, ".venv", "bin", "python")).ino;
  return [ino, mtimeMs, link, existsSync(owners) ? readFileSync(owners, "utf8") : "none"];
}
