import { type Listening, type ListenOptions, listen as listenHttp } from "@berth/command-line/http";
import { getRequestListener } from "@hono/node-server";

/** As `listen` of `@berth/command-line/http`, for a handler in the web's form. */
export function listen({
  fetch,
  ...options
}: Omit<ListenOptions, "handle"> & {
  readonly fetch: (request: Request, env?: object) => Response | Promise<Response>;
}): Promise<Listening> {
  return listenHttp({ ...options, handle: getRequestListener(fetch) });
}
