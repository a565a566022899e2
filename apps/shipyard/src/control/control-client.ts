import { connect, type Socket } from "node:net";
import { ShipyardError } from "../errors.js";
import type { StateFolder } from "../state-folder.js";
import {
  type ControlAnswer,
  type ControlRequest,
  checkSocketPath,
  maxControlBytes,
  readControlAnswer,
} from "./control-protocol.js";
import { lineOf } from "./line-of.js";

// An end that has to be confirmed may take its time: see `destroyMs`.
const patienceMs = 120_000;

/**
 * Asks the running server of a state folder; undefined when none runs.
 * @throws {ShipyardError} `CONTROL_FAILED` when there is one and it does not answer.
 */
export async function askServer(state: StateFolder, request: ControlRequest): Promise<ControlAnswer | undefined> {
  const socket = await tryConnect(state);
  if (socket === undefined) return undefined;
  socket.on("error", () => {}); // told below as an answer that did not come
  socket.write(`${JSON.stringify(request)}\n`);
  const line = await lineOf(socket, maxControlBytes, patienceMs);
  socket.destroy();
  const answer = line === undefined ? undefined : readControlAnswer(line);
  if (answer !== undefined) return answer;
  throw new ShipyardError("CONTROL_FAILED", `the server at ${state.control} did not answer`);
}

/** Whether a server of this state folder runs now. The store's writer alone does not say so: a killed one stays written there. */
export async function isServerRunning(state: StateFolder): Promise<boolean> {
  const socket = await tryConnect(state);
  socket?.destroy();
  return socket !== undefined;
}

async function tryConnect(state: StateFolder): Promise<Socket | undefined> {
  checkSocketPath(state);
  const socket = connect(state.control);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
  } catch (cause) {
    // Refused: the file is left over from a server that was killed.
    if (cause instanceof Error && "code" in cause && ["ENOENT", "ECONNREFUSED"].includes(String(cause.code))) {
      return undefined;
    }
    throw new ShipyardError("CONTROL_FAILED", `the server at ${state.control} cannot be reached`, { cause });
  }
  return socket;
}
