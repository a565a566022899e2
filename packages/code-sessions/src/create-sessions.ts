import { openSession } from "./open-session.js";
import { createSessionSet } from "./session-set.js";
import type { Sessions, SessionsOptions } from "./sessions.js";
import { startWorker } from "./worker/start-worker.js";

/**
 * Python sessions in leased environments, by owner and name. Workers are started ahead of need where `warmWorkers` says so.
 * @throws {SessionError} `OPTION_INVALID`.
 */
export function createSessions(options: SessionsOptions): Sessions {
  return createSessionSet(options, { startWorker, openSession });
}
