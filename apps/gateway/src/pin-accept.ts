import { isDeepStrictEqual } from "node:util";
import { type StdioServer, writePins } from "@berth/mcp-relay";
import { type CatalogFile, parseCatalog, updateCatalog } from "./catalog-file.js";
import { GatewayError } from "./errors.js";
import type { PinResult } from "./pin-show.js";
import { keepRunPins } from "./run-catalog.js";
import type { StateFolder } from "./state-folder.js";

/** A server to pin, as its entry was when it was measured. */
export interface PinSubject {
  readonly name: string;
  readonly server: StdioServer;
  /** What its paths are relative to. */
  readonly directory: string;
}

/** How to decide, and where to write. */
export interface AcceptOptions {
  /** Accept everything that is new or changed. */
  readonly all: boolean;
  /** Ask at the terminal, one server after the other. */
  readonly mayAsk: boolean;
  readonly state: StateFolder;
  /** Absent: the state folder's own catalog of `run` servers. */
  readonly catalog: CatalogFile | undefined;
  readonly signal: AbortSignal;
}

/** Writes the pins of what is accepted, and gives the results with `pinned` where that happened. */
export async function acceptPins(
  results: readonly PinResult[],
  subjects: readonly PinSubject[],
  options: AcceptOptions,
): Promise<readonly PinResult[]> {
  const accepted: PinResult[] = [];
  for (const result of results) {
    const isOpen = result.status === "new" || result.status === "changed";
    if (isOpen && (options.all || (options.mayAsk && (await ask(result, options.signal))))) accepted.push(result);
  }
  if (accepted.length > 0) await write(accepted, subjects, options);
  return results.map((result) => (accepted.includes(result) ? { ...result, status: "pinned" } : result));
}

async function ask({ name, status }: PinResult, signal: AbortSignal): Promise<boolean> {
  const { confirm } = await import("@clack/prompts");
  const message = status === "new" ? `Trust ${name} as shown?` : `Accept what changed in ${name}?`;
  const answer = await confirm({ message, initialValue: false, output: process.stderr, signal });
  return answer === true;
}

async function write(
  accepted: readonly PinResult[],
  subjects: readonly PinSubject[],
  { catalog, state, signal }: AcceptOptions,
): Promise<void> {
  const pins = new Map(
    accepted.flatMap(({ name, examined }) => (examined === undefined ? [] : [[name, examined.pins]])),
  );
  if (catalog === undefined) {
    for (const { name, server } of subjects) {
      const own = pins.get(name);
      if (own !== undefined) await keepRunPins(state, name, server, own, { onlyIfNew: false, signal });
    }
    return;
  }
  const edit = (text = ""): string => {
    const now = parseCatalog(catalog.path, text).catalog.servers;
    for (const { name, server } of subjects) {
      // What was measured is what the entry said then; another entry would be pinned unseen.
      if (pins.has(name) && !isDeepStrictEqual(now.get(name), server)) {
        throw new GatewayError(
          "CATALOG_CHANGED",
          `servers.${name} of ${catalog.path} changed while it was measured: pin again`,
        );
      }
    }
    return writePins(text, pins, pins.keys());
  };
  await updateCatalog(catalog.path, edit, { signal });
}
