import type { Admitter } from "../../src/http/admission.js";
import { createMemoryEventStore, type HttpServer, serveHttp } from "../../src/http.js";
import { createMcpServer, RpcError } from "../../src/index.js";
import type { Clock } from "./clock.js";
import { goldenServer } from "./server.js";
import { shown } from "./shown.js";
import type { Header } from "./transcript.js";

/** Ada without a credential, bob with his; `bad` is nobody's, and `weak` not enough. */
const admitter: Admitter<string> = {
  admit(head) {
    switch (head.header("authorization")) {
      case undefined:
        return { principal: "ada" };
      case "Bearer bob":
        return { principal: "bob" };
      case "Bearer weak":
        return { status: 403, challenge: 'Bearer error="insufficient_scope"', message: "not enough" };
      default:
        return { status: 401, challenge: "Bearer", message: "nobody known" };
    }
  },
};

/** The golden server behind real sockets. */
export async function openHttp({ limits, server = {}, http = {}, eventStore, sessionLimits }: Header, clock: Clock) {
  const made = goldenServer({ createMcpServer, RpcError, shown }, clock.now, server);
  const sessions = { limits: sessionLimits, eventStore: eventStore && createMemoryEventStore() };
  const logger = (): void => undefined;
  const listening: HttpServer = await serveHttp({ server: made, admitter, limits, sessions, logger, ...http });
  return {
    port: listening.port,
    async close(): Promise<void> {
      await listening.close();
      await made.close();
    },
  };
}
