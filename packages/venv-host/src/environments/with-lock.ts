import { VenvHostError } from "../errors.js";
import { isHeld, type LockHolder, tryLock } from "./locks/build-lock.js";
import { pause } from "./pause.js";
import { lockFolder, type StoreParts } from "./store-parts.js";
import { inStore } from "./system-fault.js";

const lookEveryMs = 50;
/** Beside the time of a build: for ending its processes and for removing what it left. */
const spareMs = 60_000;

/** Does something while it has the lock of a key. Waits for a living holder, and no longer than a build may take. */
export async function withLock<T>(
  parts: StoreParts,
  key: string,
  options: { readonly signal: AbortSignal; readonly onWait: (holder: string) => void },
  act: () => Promise<T>,
): Promise<T> {
  const { folder, viewer, random, terms } = parts;
  const patienceMs = terms.buildTimeoutMs + spareMs;
  let waited: { readonly file: string; readonly sinceMs: number } | undefined;
  for (;;) {
    options.signal.throwIfAborted();
    const outcome = await inStore(folder.root, "lock", () => tryLock(lockFolder(parts, key), viewer, random));
    if (isHeld(outcome)) {
      try {
        return await act();
      } finally {
        await inStore(folder.root, "lock", () => outcome.release());
      }
    }
    const nowMs = terms.scheduler.now();
    if (waited?.file !== outcome.file) {
      waited = { file: outcome.file, sinceMs: nowMs };
      options.onWait(described(outcome));
    }
    if (nowMs - waited.sinceMs > patienceMs) throw outOfPatience(outcome, patienceMs);
    await pause(lookEveryMs, terms.scheduler, options.signal);
  }
}

/** Who has it, for people. */
export function described({ name, isUnknown }: LockHolder): string {
  if (name === undefined) return "a process that its lock does not name";
  const host = name.host.slice(0, 100).replaceAll(/[^ -~]/g, "?");
  return `process ${name.pid}${isUnknown ? ` on ${host}, which cannot be looked for from here` : ""}`;
}

function outOfPatience(holder: LockHolder, patienceMs: number): VenvHostError {
  const message = `${described(holder)} has held the lock of an environment for more than ${patienceMs} ms`;
  const cure = `end that process; if it is gone, remove ${holder.file}`;
  return new VenvHostError("STORE_UNUSABLE", message, { step: "lock", timeoutMs: patienceMs, cure });
}
