import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const maxLevels = 5;

/** Where this package lies: `templates` is beside `src` and beside `dist`. */
export function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (let level = 0; level < maxLevels; level++, folder = dirname(folder)) {
    if (existsSync(join(folder, "templates", "shell", "plugin.json"))) return folder;
  }
  throw new Error("the package @berth/process-plugins lacks its folder templates: it cannot be bundled");
}
