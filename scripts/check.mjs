// `npm run check`: what a person who installs a package would trip over, and what the architecture forbids.
// Each check prints its name and its faults; the exit code is 0 only when none has any.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { holds, knownNames } from "../fixtures/conformance/run/known-names.mjs";
import { edgeFaults } from "./package-edges.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = (name) => join(root, "node_modules", ".bin", name);
const folders = ["packages", "apps"].flatMap((group) =>
  readdirSync(join(root, group))
    .map((name) => join(group, name))
    .filter((folder) => existsSync(join(root, folder, "package.json"))),
);
const manifestOf = (folder) => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
const tracked = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean);

/** Output of a tool that failed, or nothing when it exited 0. */
function faultsOf(command, args, cwd = root) {
  const run = spawnSync(command, args, { cwd, encoding: "utf8" });
  return run.status === 0 ? [] : [`${command.split("/").at(-1)} ${args.join(" ")}`, run.stdout, run.stderr];
}

function edges() {
  return folders.flatMap((folder) => edgeFaults(manifestOf(folder)));
}

/** No source file reaches past another package's `exports`, and none imports a sibling that its manifest lacks. */
function imports() {
  return tracked
    .filter((file) => /^(packages|apps)\/[^/]+\/(src|test)\/.*\.ts$/.test(file))
    .flatMap((file) => {
      const manifest = manifestOf(file.split("/").slice(0, 2).join("/"));
      const declared = { ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.devDependencies };
      const text = readFileSync(join(root, file), "utf8");
      return [...text.matchAll(/(?:from|import)\s*\(?"(@berth\/[a-z-]+)/g)]
        .map((match) => match[1])
        .filter((name) => file.includes("/src/") && name !== manifest.name && !(name in declared))
        .map((name) => `${file} imports ${name}, which its package.json does not list`);
    });
}

function sizes() {
  return tracked
    .filter((file) => /^(packages|apps)\/[^/]+\/src\/.*\.(ts|py)$/.test(file))
    .map((file) => ({ file, lines: readFileSync(join(root, file), "utf8").split("\n").length - 1 }))
    .filter(({ lines }) => lines > 400)
    .map(({ file, lines }) => `${file} has ${lines} lines; 400 is the limit: look for the second responsibility`);
}

function documents() {
  const license = readFileSync(join(root, "LICENSE"), "utf8");
  return folders.flatMap((folder) => {
    const faults = ["README.md", "LICENSE", "test"].filter((name) => !existsSync(join(root, folder, name)));
    const copy = join(root, folder, "LICENSE");
    if (existsSync(copy) && readFileSync(copy, "utf8") !== license) faults.push("LICENSE that equals the root's");
    return faults.map((name) => `${folder} has no ${name}`);
  });
}

/** No package knows a scenario, tool, prompt or resource of the conformance suites: what passes there passes for everybody. */
async function conformanceNames() {
  const names = await knownNames();
  return tracked
    .filter((file) => /^packages\/[^/]+\/src\//.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8");
      return names
        .filter((name) => holds(text, name))
        .map((name) => `${file} holds ${name}, a name of a conformance suite`);
    });
}

function lockFile() {
  const lock = readFileSync(join(root, "package-lock.json"), "utf8");
  return lock.includes('"resolved": "http') ? ["package-lock.json names a registry: see .npmrc"] : [];
}

function published() {
  return folders.flatMap((folder) => faultsOf(bin("publint"), ["run", "--strict", folder]));
}

function types() {
  const scratch = mkdtempSync(join(tmpdir(), "berth-attw-"));
  try {
    return folders
      .filter((folder) => "." in manifestOf(folder).exports)
      .flatMap((folder) => {
        execFileSync("npm", ["pack", "--silent", "--pack-destination", scratch], { cwd: join(root, folder) });
        const packed = readdirSync(scratch).find((name) => name.endsWith(".tgz"));
        const faults = faultsOf(bin("attw"), ["--profile", "esm-only", join(scratch, packed)]);
        rmSync(join(scratch, packed));
        return faults;
      });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const knip = () => faultsOf(bin("knip"), []);

const checks = {
  edges,
  imports,
  sizes,
  documents,
  "conformance names": conformanceNames,
  "lock file": lockFile,
  publint: published,
  attw: types,
  knip,
};
let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  const faults = await check();
  console.log(`${faults.length === 0 ? "ok  " : "FAIL"} ${name}`);
  for (const fault of faults) console.log(`     ${fault}`);
  if (faults.length > 0) failed += 1;
}
console.log(`${Object.keys(checks).length - failed} checks passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
