import { exitCodes, printJson, printLine } from "@berth/command-line";
import { openEnvironmentStore, type StoredEnvironment } from "@berth/venv-host";
import { tryFindStateFolder } from "../state-folder.js";

/** Prints the environments of the store. Exit code 1 when one is broken. */
export async function venvListCommand(options: {
  readonly state: string;
  readonly json?: boolean | undefined;
}): Promise<number> {
  const environments = await listAll(options.state);
  if (options.json === true) printJson({ environments: environments ?? [] });
  else if (environments === undefined) printLine(nothingYet(options.state));
  else {
    for (const environment of environments) printLine(shown(environment, Date.now()));
    printLine(
      `${environments.length} environments, ${inMegabytes(environments.reduce((sum, { bytes }) => sum + bytes, 0))}`,
    );
  }
  return environments?.some(({ state }) => state === "broken") === true ? exitCodes.failed : exitCodes.good;
}

async function listAll(path: string): Promise<readonly StoredEnvironment[] | undefined> {
  const state = await tryFindStateFolder(path);
  if (state === undefined) return undefined;
  await using store = await openEnvironmentStore({ path: state.venvs });
  return await store.list();
}

/** For people. */
export const nothingYet = (path: string): string => `nothing was built yet in ${path}`;

function shown(environment: StoredEnvironment, now: number): string {
  const { key, state, pythonVersion, distributions, bytes, lastUsedAt, heldBy, message } = environment;
  return [
    state.padEnd(8),
    key.slice(0, 16),
    `python ${pythonVersion ?? "?"}`,
    `${distributions ?? "?"} distributions`,
    inMegabytes(bytes),
    lastUsedAt === undefined ? "never used" : `used ${ageOf(now - lastUsedAt)} ago`,
    ...(heldBy.length === 0 ? [] : [`held by ${heldBy.join(", ")}`]),
    ...(message === undefined ? [] : [message]),
  ].join("  ");
}

/** For people. */
export function inMegabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** A clock that went back makes nothing younger than now. */
function ageOf(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 60) return `${minutes} min`;
  return minutes < 2_880 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1_440)} days`;
}
