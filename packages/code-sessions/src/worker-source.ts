import { readdirSync, readFileSync } from "node:fs";

// Beside `src` as beside `dist`; hence this file lies at the top of `src`.
const folder = new URL("../python/", import.meta.url);
const packageName = "berth_worker";

/** The worker's Python. */
export interface WorkerSource {
  /** The text that the boot line runs. */
  readonly entry: string;
  /** By module name; each is compiled inside when it is first needed. */
  readonly modules: Readonly<Record<string, string>>;
}

/** Read anew for each start: 20 small files, half a millisecond. */
export function readWorkerSource(): WorkerSource {
  const modules: Record<string, string> = {};
  for (const file of readdirSync(new URL(`${packageName}/`, folder))) {
    if (!file.endsWith(".py")) continue;
    const name = file.slice(0, -".py".length);
    const module = name === "__init__" ? packageName : `${packageName}.${name}`;
    modules[module] = readFileSync(new URL(`${packageName}/${file}`, folder), "utf8");
  }
  return { entry: readFileSync(new URL("worker.py", folder), "utf8"), modules };
}
