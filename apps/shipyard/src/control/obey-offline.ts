import { createClosers, createLogger } from "@berth/command-line";
import { loadConfig } from "../config/config.js";
import { openLeases } from "../leases/open-leases.js";
import type { StateFolder } from "../state-folder.js";
import type { ControlAnswer, ControlRequest } from "./control-protocol.js";
import { obeyer } from "./obey.js";

const closeMs = 30_000;

/**
 * Does what the server would, while none runs: takes the store's lock and keeps a log like a server's. A sweep is then a
 * recovery, since nobody is there whose sandboxes could be left alone.
 */
export async function obeyOffline(state: StateFolder, request: ControlRequest): Promise<ControlAnswer> {
  const logger = await createLogger("warn");
  const config = await loadConfig(undefined);
  const closers = createClosers((name, fault) => logger.error({ err: fault }, `${name} could not be closed`));
  try {
    const { leases } = await openLeases({
      // Nothing is leased here, and a machine that has lost its sandboxes must still be able to end what was not one.
      ...{ config: { ...config, provider: "unconfined" }, state, logger, closers, profiles: () => undefined },
      mode: `leases ${request.op}`,
      reason: () => "done",
    });
    if (request.op === "release") return await obeyer(leases)(request);
    return { ok: true, result: { ...(await leases.recover()) } };
  } finally {
    await closers.close(closeMs);
  }
}
