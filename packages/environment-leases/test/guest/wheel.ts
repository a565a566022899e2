import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ApprovedWheel } from "../../src/index.js";

// Written by Python's own zip writer, after the binary distribution format's specification.
const program = `
import sys, zipfile
name, version, path = sys.argv[1:]
info = f"{name}-{version}.dist-info"
files = {
    f"{name}/__init__.py": f"told = '{name} {version}'\\n",
    f"{info}/METADATA": f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\nRequires-Dist: no-such-thing\\n",
    f"{info}/WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
}
files[f"{info}/RECORD"] = "".join(f"{each},,\\n" for each in [*files, f"{info}/RECORD"])
with zipfile.ZipFile(path, "w") as wheel:
    for each, content in files.items():
        wheel.writestr(each, content)
`;

/** Builds a small pure wheel. */
export function buildWheel(folder: string, name: string, version: string): ApprovedWheel {
  const path = join(folder, `${name}-${version}-py3-none-any.whl`);
  execFileSync("/usr/bin/python3", ["-c", program, name, version, path]);
  return { path, sha256: sha256(path) };
}

export function sha256(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}
