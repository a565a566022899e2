import { createReader, type ValueReader } from "../reading/read-values.js";
import type { SandboxIdentity } from "../sandbox.js";

const anyNumber = { least: 0, most: Number.MAX_SAFE_INTEGER };
const processNumber = { least: 2, most: 2 ** 22 };
const maxGroups = 32;

/**
 * Checks a record of an earlier process: a damaged one must not get other people's processes killed.
 * @throws {ConfinementError} `SANDBOX_OPTION_INVALID`, with the member as `field`.
 */
export function readIdentity(identity: SandboxIdentity): SandboxIdentity {
  const reader = createReader("SANDBOX_OPTION_INVALID");
  reader.object("identity", identity);
  reader.text("identity.name", identity.name, 64);
  if (reader.text("identity.bootId", identity.bootId, 64) === "") reader.fail("identity.bootId", "not empty", "");
  readMark(reader, "identity.outer", identity.outer);
  readMark(reader, "identity.init", identity.init);
  reader.integer("identity.hostPidNamespace", identity.hostPidNamespace, anyNumber);
  reader.integer("identity.pidNamespace", identity.pidNamespace, anyNumber);
  const groups: unknown = identity.controlGroups;
  if (!Array.isArray(groups) || groups.length > maxGroups)
    return reader.fail("identity.controlGroups", `an array of at most ${maxGroups} paths`, groups);
  groups.forEach((path, index) => void reader.path(`identity.controlGroups[${index}]`, path));
  return identity;
}

function readMark(reader: ValueReader, field: string, mark: SandboxIdentity["init"]): void {
  reader.object(field, mark);
  reader.integer(`${field}.pid`, mark.pid, processNumber);
  reader.integer(`${field}.startTime`, mark.startTime, anyNumber);
}
