/** What tests of a served state folder look at. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { ask, type Served, scratchFolder, shipyard, unconfined, writeConfig } from "./shipyard.js";

/** A folder with a configuration, and what `serve` needs to use it. */
export interface Place {
  readonly folder: string;
  readonly state: string;
  readonly config: string;
  readonly args: readonly string[];
}

/** Without a sandbox unless the lines say otherwise. */
export function place(lines: readonly string[] = unconfined): Place {
  const folder = scratchFolder();
  const state = join(folder, "s");
  const config = writeConfig(folder, lines);
  return { folder, state, config, args: ["--config", config, "--state", state] };
}

/** Runs code in a worker of its own; the answer of the original's route. */
export const run = (served: Served, code: string): Promise<unknown> =>
  ask(`${served.url}/execute`, { code }).then(({ body }) => body);

export const startSession = (served: Served, id: string): Promise<unknown> =>
  ask(`${served.url}/v1/sessions/session`, { session_id: id });

/** A row of `leases list --json`. */
export interface ListedLease {
  readonly id: string;
  readonly owner: string | null;
  readonly state: string;
  readonly endReason: string | null;
  readonly provider: string;
  readonly labels: Readonly<Record<string, string>>;
}

export async function leasesOf(state: string, ...more: readonly string[]): Promise<readonly ListedLease[]> {
  const { code, stdout } = await shipyard(["leases", "list", "--state", state, "--json", ...more]);
  expect(code).toBe(0);
  return JSON.parse(stdout).leases;
}

/** What has not ended and has an owner. */
export const owned = async (state: string): Promise<readonly ListedLease[]> =>
  (await leasesOf(state)).filter(({ owner }) => owner !== null);

/** Entries of all logs of a state folder. */
export function entriesOf(state: string): readonly Readonly<Record<string, unknown>>[] {
  const logs = join(state, "audit");
  const files = readdirSync(logs).flatMap((log) => readdirSync(join(logs, log)).map((name) => join(logs, log, name)));
  return files
    .filter((path) => path.endsWith(".jsonl"))
    .flatMap((path) => readFileSync(path, "utf8").trim().split("\n"))
    .map((line) => JSON.parse(line).entry)
    .filter((entry) => entry !== undefined);
}
