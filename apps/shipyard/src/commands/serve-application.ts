import { createLogger, listenForExit } from "@berth/command-line";
import { serveStdio } from "@berth/mcp-server/stdio";
import { ShipyardError } from "../errors.js";
import { loadApplication, readApplicationTarget } from "../serving/application-target.js";
import { printsAside } from "../serving/prints-aside.js";

/** What the command line says. */
export interface ServeApplicationOptions {
  readonly application: string;
  readonly principal?: string | undefined;
}

/**
 * Serves an application's own MCP server on standard input and output. Application and principal are the operator's words
 * and never come from a request. An error that the application did not declare safe: -32603 to the client, the error to
 * stderr, other work is finished, exit code 1.
 */
export async function serveApplicationCommand(options: ServeApplicationOptions): Promise<number> {
  const { principal } = options;
  if (principal === undefined || principal.trim() === "") {
    throw new ShipyardError("USAGE", "--principal NAME says who the client is, and may not be empty");
  }
  const target = readApplicationTarget(options.application, process.cwd());
  const logger = await createLogger("info");
  // Served at once: in between, a print of the application would be a line of the protocol.
  const server = await printsAside(() => loadApplication(target));
  const exits = listenForExit({ onException: (error) => logger.fatal({ err: error }, "a fault of the application") });
  try {
    const { code } = await serveStdio({
      ...{ server, principal, signal: exits.signal, exitProcess: false },
      logger: (text, error) => logger.error(error === undefined ? {} : { err: error }, text),
    });
    return exits.cause() === "exception" ? 1 : code;
  } finally {
    exits.release();
  }
}
