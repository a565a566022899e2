import { readText as readBounded } from "@berth/state-folder";
import { ofState } from "./errors.js";

/** Largest catalog or client configuration, in bytes. Pinned definitions are in it. */
export const maxCatalogBytes: number = 16 * 1024 * 1024;
/** Largest `gateway.yaml`, in bytes. */
export const maxConfigBytes: number = 1024 * 1024;

/** @throws {GatewayError} `USAGE` for a file over the limit; the system's errors as they are. */
export const readText = (path: string, maxBytes: number): Promise<string> => readBounded(path, maxBytes).catch(ofState);
