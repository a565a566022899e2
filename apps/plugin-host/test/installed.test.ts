import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { partsForAll } from "../../../fixtures/parts.js";
import { entryOf, makeWorld } from "./plugin-host.js";

const stub = fileURLToPath(new URL("../../../fixtures/cpex-stub/cpex", import.meta.url));
partsForAll("python3-venv");
const world = makeWorld();
const root = join(world.folder, "plugins", "my_pkg");
const cache = join(root, ".cpex", "venv_cache");
const config = world.config("plugins.yaml", { guard: entryOf("filters.Guard") });

/** As another CPEX host does it. */
function install(): void {
  const path = join(root, ".venv");
  execFileSync("python3", ["-m", "venv", "--without-pip", path]);
  const [version = ""] = readdirSync(join(path, "lib"));
  cpSync(stub, join(path, "lib", version, "site-packages", "cpex"), { recursive: true });
  mkdirSync(cache, { recursive: true });
  const requirements = join(root, "requirements.txt");
  const hash = createHash("sha256").update(readFileSync(requirements)).digest("hex");
  const metadata = { venv_path: path, requirements_file: requirements, requirements_hash: hash, python_version: null };
  writeFileSync(join(cache, "my_pkg-filters-Guard_metadata.json"), JSON.stringify(metadata));
}

it("an environment that another host installed is used as it is, and built in the store once it is not valid", async () => {
  install();
  const before = readFileSync(join(cache, "my_pkg-filters-Guard_metadata.json"), "utf8");
  const used = await world.run(["venv", "build", "--config", config, "--json"]);
  expect(JSON.parse(used.stdout || "{}"), used.stderr).toMatchObject({
    plugins: [{ ok: true, origin: "installed", path: join(root, ".venv"), evidence: { environment: "installed" } }],
  });
  // Its owners are as they were: nobody uses it now.
  expect(existsSync(join(cache, "owners.json"))).toBe(false);
  expect(readFileSync(join(cache, "my_pkg-filters-Guard_metadata.json"), "utf8")).toBe(before);
  writeFileSync(join(root, "requirements.txt"), "cpex >= 0.1\n");
  const built = await world.run(["venv", "build", "--config", config, "--json"]);
  expect(JSON.parse(built.stdout || "{}"), built.stderr).toMatchObject({ plugins: [{ ok: true, origin: "built" }] });
  expect(built.stderr).toContain(`plugin guard: ${join(root, ".venv")} is not used: requirements changed`);
}, 120_000);
