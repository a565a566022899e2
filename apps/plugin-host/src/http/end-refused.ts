import type { IncomingMessage, ServerResponse } from "node:http";

/** How long a client that is refused may go on sending what nobody keeps. */
const lingerMs = 2_000;

/**
 * Ends a refusal whose connection closes with it. One that is closed under a client that still sends is reset, and the refusal
 * lost on its way: what comes is passed over first, for a while.
 */
export function endRefused(request: IncomingMessage, response: ServerResponse, body: string): void {
  if (request.complete) return void response.end(body);
  response.write(body);
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, lingerMs);
  request.once("end", end).once("close", end).resume();
}
