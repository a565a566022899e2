import type { Scheduler } from "@berth/jsonrpc-framing";
import { VenvHostError } from "../../errors.js";
import { folderSize } from "../health/folder-size.js";
import { systemCode } from "../system-fault.js";

/** What ends a build that takes too long or too much. */
export interface BuildBounds {
  /** Aborted when the build is to end, with the reason that it then fails with. */
  readonly signal: AbortSignal;
  /** Measures the environment; rejects when it is over the limit. */
  checkSize(environment: string): Promise<number>;
  release(): void;
}

const lookEveryMs = 500;
/** So many times as long as a look took is waited for the next one: large builds must not wait for their measuring. */
const restFactor = 9;
/** An installer has a package as it came, unpacked, and where it goes. */
const copiesMeanwhile = 3;

/** Watches the time and the folder of a build until `release`. */
export function boundBuild(
  folder: string,
  limits: { readonly buildTimeoutMs: number; readonly maxEnvironmentBytes: number },
  scheduler: Scheduler,
  outer: AbortSignal,
): BuildBounds {
  const { buildTimeoutMs, maxEnvironmentBytes } = limits;
  const over = new AbortController();
  const tooLong = (): void =>
    over.abort(failure(`the build did not end within ${buildTimeoutMs} ms`, { timeoutMs: buildTimeoutMs }));
  const timer = scheduler.after(buildTimeoutMs, tooLong);
  const check = async (measured: string, limitBytes: number, what: string): Promise<number> => {
    const bytes = await folderSize(measured, limitBytes).catch((error: unknown) => {
      throw failure(`${what} cannot be measured: ${systemCode(error) ?? "unknown"}`, { limitBytes });
    });
    if (bytes <= limitBytes) return bytes;
    throw failure(`${what} takes more than ${limitBytes} bytes`, { sizeBytes: bytes, limitBytes });
  };
  let released = false;
  let look = scheduler.after(lookEveryMs, () => void watch());
  const watch = async (): Promise<void> => {
    const began = scheduler.now();
    await check(folder, maxEnvironmentBytes * copiesMeanwhile, "the build").catch((error: unknown) =>
      over.abort(error),
    );
    const restMs = Math.max(lookEveryMs, (scheduler.now() - began) * restFactor);
    if (!released) look = scheduler.after(restMs, () => void watch());
  };
  return {
    signal: AbortSignal.any([outer, over.signal]),
    checkSize: (environment) => check(environment, maxEnvironmentBytes, "the environment"),
    release: () => {
      released = true;
      timer.cancel();
      look.cancel();
    },
  };
}

function failure(
  message: string,
  details: { timeoutMs?: number; sizeBytes?: number; limitBytes?: number },
): VenvHostError {
  return new VenvHostError("VENV_BUILD_FAILED", message, {
    ...details,
    step: "install",
    cure: "raise the limit, or ask for less",
  });
}
