import type { NamesServed } from "@berth/command-line/http";
import type { McpServer } from "@berth/mcp-server";
import { type Admitter, createHttpHandler, type HttpHandler } from "@berth/mcp-server/http";

export interface McpDoorParts {
  readonly server: McpServer<string>;
  readonly admitter: Admitter<string> | undefined;
  readonly names: NamesServed;
  readonly maxBodyBytes: number;
  readonly onFault: (fault: unknown) => void;
  /** Told what was refused, such as the `Origin` of a page, in one line. */
  readonly onNote: (text: string) => void;
}

/** MCP at `/mcp`, in every revision that is served. */
export interface McpDoor extends AsyncDisposable {
  readonly handler: HttpHandler;
  close(): Promise<void>;
}

/** Whoever comes without authentication. */
export const localPrincipal = "local";

export function createMcpDoor({ server, admitter, names, maxBodyBytes, onFault, onNote }: McpDoorParts): McpDoor {
  const handler = createHttpHandler({
    server,
    ...(admitter === undefined ? { principal: localPrincipal } : { admitter }),
    allowedHosts: names.hosts,
    allowedOrigins: names.allowedOrigins,
    limits: { maxBodyBytes },
    onUnexpectedError: onFault,
    logger: (text, error) => {
      if (error === undefined) onNote(text); // any other is told to onUnexpectedError too
    },
  });
  const close = (): Promise<void> => handler.close();
  return { handler, close, [Symbol.asyncDispose]: close };
}
