/** The gateway as a user gets it: packed with npm, unpacked into a folder of its own, run by its bin. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** Unpacks one workspace package below `modules` and links what it needs from the registry to the installed copies. */
function unpack(workspace: string, modules: string, tarballs: string): void {
  const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", tarballs], {
    cwd: join(root, workspace),
    encoding: "utf8",
  }).trim();
  const manifest: { name: string; dependencies?: Record<string, string> } = JSON.parse(
    readFileSync(join(root, workspace, "package.json"), "utf8"),
  );
  const folder = join(modules, manifest.name);
  mkdirSync(folder, { recursive: true });
  execFileSync("tar", ["-xzf", join(tarballs, packed), "--strip-components=1", "-C", folder]);
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    const place = join(modules, name);
    if (name.startsWith("@berth/")) continue;
    mkdirSync(dirname(place), { recursive: true });
    try {
      symlinkSync(join(root, "node_modules", name), place);
    } catch (cause) {
      if (!(cause instanceof Error && "code" in cause && cause.code === "EEXIST")) throw cause; // two packages need it
    }
  }
}

/** Packs every workspace package into `folder` and returns the path of the gateway's bin there. */
export function unpackGateway(folder: string): string {
  const modules = join(folder, "node_modules");
  const tarballs = join(folder, "tarballs");
  mkdirSync(tarballs, { recursive: true });
  for (const name of readdirSync(join(root, "packages"))) unpack(`packages/${name}`, modules, tarballs);
  unpack("apps/gateway", modules, tarballs);
  return join(modules, "berth-gateway", "bin", "berth-gateway.js");
}
