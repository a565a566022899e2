import type { McpServer } from "../server/create-server.js";
import type { Admitter } from "./admission.js";
import type { SessionOptions } from "./legacy/options.js";
import type { HttpServerLimits } from "./limits.js";
import type { OriginRules } from "./origin.js";

/** Who the clients are: the same for all, or as an admitter says of each request. Nothing in a message can. */
export type Identification<P> =
  | { readonly principal: P; readonly admitter?: undefined }
  | { readonly admitter: Admitter<P>; readonly principal?: undefined };

/** What `createHttpHandler` accepts. */
export type HttpHandlerOptions<P> = Identification<P> & HttpHandlerSettings<P>;

/** What it accepts beside who the clients are. */
export interface HttpHandlerSettings<P> extends OriginRules {
  readonly server: McpServer<P>;
  /** The one path that is served. Default `/mcp`. */
  readonly path?: string | undefined;
  readonly limits?: HttpServerLimits | undefined;
  /** Sessions of clients that open with `initialize`. */
  readonly sessions?: SessionOptions | undefined;
  /** Told what a handler threw that is no answer (the client got -32603 without its text), and what an admitter threw. What it throws itself is ignored. */
  readonly onUnexpectedError?: ((error: unknown) => void) | undefined;
  /** Gets one text for each thing that an operator should know. Default: a line on standard error. Never called with what a client sent. */
  readonly logger?: ((text: string, error?: unknown) => void) | undefined;
}

/** Of the endpoint, unless an option names another one. */
export const defaultPath = "/mcp";

/** Every option by its name. */
const handlerOptions = {
  server: true,
  principal: true,
  admitter: true,
  path: true,
  allowedHosts: true,
  allowedOrigins: true,
  limits: true,
  sessions: true,
  onUnexpectedError: true,
  logger: true,
} as const satisfies Readonly<Record<keyof HttpHandlerSettings<unknown> | "principal" | "admitter", true>>;
const sessionOptions = { eventStore: true, limits: true } as const satisfies Readonly<
  Record<keyof SessionOptions, true>
>;

/**
 * A misspelled option would be a rule that nobody misses.
 * @param more Names that are options as well.
 * @throws {TypeError}
 */
export function checkOptions<P>(options: HttpHandlerOptions<P>, more: object = {}): void {
  requireKnown(options, { ...handlerOptions, ...more }, "option");
  requireKnown(options.sessions ?? {}, sessionOptions, "option of sessions");
  if (options.admitter === undefined && !("principal" in options)) {
    throw new TypeError("nobody says who the clients are: give a principal or an admitter");
  }
  if (options.path !== undefined && !/^\/[^?#\s]*$/.test(options.path)) {
    throw new TypeError(`path is ${JSON.stringify(options.path)}; it has to begin with / and to have no query`);
  }
}

function requireKnown(given: object, known: object, kind: string): void {
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(known, name)) throw new TypeError(`there is no ${kind} "${name}"`);
  }
}
