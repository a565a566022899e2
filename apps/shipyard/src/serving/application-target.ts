import { isAbsolute, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { McpServer } from "@berth/mcp-server";
import { ShipyardError } from "../errors.js";

/** A local module and the function in it that makes the server. */
export interface ApplicationTarget {
  /** Absolute. */
  readonly file: string;
  readonly factory: string;
}

const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;

/**
 * Reads `FILE:FACTORY`. The file is a path, never a package or a URL: what runs is what the operator named.
 * @throws {ShipyardError} `APPLICATION_INVALID`
 */
export function readApplicationTarget(text: string, directory: string): ApplicationTarget {
  const colon = text.lastIndexOf(":");
  const [file, factory] = [text.slice(0, colon), text.slice(colon + 1)];
  const isPath = isAbsolute(file) || file.startsWith("./") || file.startsWith("../");
  if (colon < 0 || !isPath || file.includes("\0") || !identifier.test(factory)) {
    throw new ShipyardError("APPLICATION_INVALID", `--application ${text} is no FILE:FACTORY`, {
      lines: [
        "FILE is a path that begins with / or ./ or ../, FACTORY the name of an exported function: ./app.js:createApp",
      ],
    });
  }
  return { file: resolve(directory, file), factory };
}

/** How long an application may take to give its server: to be imported, and again to be made. */
const applicationMs = 60_000;

/**
 * Loads the module and calls the factory, without arguments. What these throw is the application's and passes as it is.
 * @throws {ShipyardError} `APPLICATION_FAILED` when there is no such function, when it gives no server, or takes too long.
 */
export async function loadApplication({ file, factory }: ApplicationTarget): Promise<McpServer<string>> {
  const imported: Promise<Readonly<Record<string, unknown>>> = import(pathToFileURL(file).href);
  const module = await settled(imported, `the import of ${file} (an await at its top level)`);
  const make = Object.hasOwn(module, factory) ? module[factory] : undefined;
  if (typeof make !== "function") {
    throw new ShipyardError("APPLICATION_FAILED", `${file} exports no function ${factory}`);
  }
  const server: unknown = await settled(make(), `the promise that ${factory} of ${file} returned`);
  if (isServer(server)) return server;
  throw new ShipyardError("APPLICATION_FAILED", `${factory} of ${file} gave no server of @berth/mcp-server`);
}

/** The timer keeps the process alive: with nothing else to do, Node would end it without a word. */
async function settled<T>(given: T | Promise<T>, name: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `${name} did not settle within ${applicationMs / 1_000} seconds`;
    timer = setTimeout(() => reject(new ShipyardError("APPLICATION_FAILED", message)), applicationMs);
  });
  try {
    return await Promise.race([given, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** By its shape: the application may bring its own copy of the package. */
function isServer(value: unknown): value is McpServer<string> {
  if (typeof value !== "object" || value === null) return false;
  const { handleMessage, openConnection, principalId }: { readonly [Name in keyof McpServer<string>]?: unknown } =
    value;
  return [handleMessage, openConnection, principalId].every((member) => typeof member === "function");
}
