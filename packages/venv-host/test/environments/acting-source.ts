/** A source distribution whose build does what a test says, among it to the environment that it is built for. */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { World } from "./world.js";

/** Its build runs this Python before it makes a wheel of nothing; gives a requirements file that asks for it. */
export function sourceThat(world: World, program: string): string {
  mkdirSync(join(world.folder, "acts-1.0"));
  world.write(
    "acts-1.0/pyproject.toml",
    '[build-system]\nrequires = []\nbuild-backend = "acts"\nbackend-path = ["."]\n',
  );
  world.write(
    "acts-1.0/acts.py",
    `import os, sys, zipfile
def acts():
${program.replaceAll(/^/gm, "  ")}
def build_wheel(folder, settings=None, metadata=None):
  name = "acts-1.0-py3-none-any.whl"
  with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
    wheel.writestr("acts_it.py", "")
    wheel.writestr("acts-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: acts\\nVersion: 1.0\\n")
    wheel.writestr("acts-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr("acts-1.0.dist-info/RECORD", "")
  acts()
  return name
`,
  );
  execFileSync("tar", ["-czf", join(world.folder, "acts-1.0.tar.gz"), "-C", world.folder, "acts-1.0"]);
  return world.write("acts.txt", "./acts-1.0.tar.gz\n");
}

/** The first line of such a program: the environment that is being made stands beside the folder for temporary files. */
export const environment: string = 'there = os.path.join(os.path.dirname(os.environ["TMPDIR"]), "venv")\n';
