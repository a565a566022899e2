// npm before 11.6 loses the bin link `node` when both binary packages are listed as optional dependencies.
// Restores node_modules/.bin/node to the one that was installed for this machine, so that npm scripts run on it.
import { existsSync, readlinkSync, symlinkSync, unlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const binary = ["x64", "arm64"]
  .map((arch) => join(root, "node_modules", `node-linux-${arch}`, "bin", "node"))
  .find((path, index) => existsSync(path) && process.arch === ["x64", "arm64"][index]);
const link = join(root, "node_modules", ".bin", "node");

/** The link's present target, or undefined when there is no link. */
function currentTarget() {
  try {
    return readlinkSync(link);
  } catch {
    return undefined; // absent or not a link: both mean "write it"
  }
}

if (binary !== undefined && process.platform === "linux") {
  const wanted = relative(dirname(link), binary);
  if (currentTarget() !== wanted) {
    if (currentTarget() !== undefined) unlinkSync(link);
    if (!existsSync(link)) symlinkSync(wanted, link);
  }
}
