import {
  aFunction,
  anObject,
  aServer,
  aText,
  checkOptions,
  having,
  type OptionKind,
  type OptionKinds,
  optional,
  somebody,
  textsOf,
} from "../option-check.js";
import type { McpServer } from "../server/create-server.js";
import type { Admitter } from "./admission.js";
import type { SessionOptions } from "./legacy/options.js";
import type { HttpServerLimits } from "./limits.js";
import type { OriginRules } from "./origin.js";

/** Who the clients are: the same for all (neither undefined nor null), or as an admitter says of each request. Nothing in a message can. */
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
  /**
   * Gets one text for each thing that an operator should know. Default: a line on standard error. Of what clients send it gets the first `Host` and the first
   * `Origin` that are refused, escaped, at most 100 characters each.
   */
  readonly logger?: ((text: string, error?: unknown) => void) | undefined;
}

/** Of the endpoint, unless an option names another one. */
export const defaultPath = "/mcp";

const handlerOptions = {
  server: aServer,
  principal: optional(somebody),
  admitter: optional(having(["admit"], "an Admitter, as createBearerAdmitter makes")),
  path: optional(aText),
  allowedHosts: optional(textsOf("host names")),
  allowedOrigins: optional(textsOf("origins")),
  limits: optional(anObject),
  sessions: optional(anObject),
  onUnexpectedError: optional(aFunction),
  logger: optional(aFunction),
} as const satisfies OptionKinds<HttpHandlerSettings<unknown> & { principal: unknown; admitter: unknown }>;
const sessionOptions = {
  eventStore: optional(anObject),
  limits: optional(anObject),
  answers: optional(aText),
} as const satisfies OptionKinds<SessionOptions>;

/**
 * Checks what can be said of the options before anything is made of them.
 * @param more What is an option as well.
 * @throws {TypeError}
 */
export function checkHttpOptions<P>(
  options: HttpHandlerOptions<P>,
  more: Readonly<Record<string, OptionKind>> = {},
): void {
  checkOptions(options, { ...handlerOptions, ...more });
  const { sessions, principal, admitter, path } = options;
  if (sessions !== undefined) checkOptions(sessions, sessionOptions, { of: "sessions" });
  if (sessions?.answers !== undefined && sessions.answers !== "json" && sessions.answers !== "stream") {
    throw new TypeError(`sessions.answers is ${JSON.stringify(sessions.answers)}; it has to be "json" or "stream"`);
  }
  if (principal === undefined && admitter === undefined) {
    throw new TypeError("nobody says who the clients are: give a principal or an admitter");
  }
  if (principal !== undefined && admitter !== undefined) {
    throw new TypeError("there are a principal and an admitter, and no telling which counts: give one of them");
  }
  // A principal that the server cannot tell from others would fail with the first request.
  if (principal !== undefined) options.server.principalId(principal);
  if (path !== undefined && !/^\/[^?#\s]*$/.test(path)) {
    throw new TypeError(`path is ${JSON.stringify(path)}; it has to begin with / and to have no query`);
  }
}
