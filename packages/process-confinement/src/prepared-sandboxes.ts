import { randomBytes } from "node:crypto";
import { ConfinementError } from "./errors.js";
import { sweepControlGroups } from "./limits/sweep-groups.js";
import { openSandboxOn } from "./open-sandbox.js";
import type { ConfinementPolicy } from "./policy.js";
import { basisOf, prepareSandbox, tryPrepared } from "./prepared/prepare.js";
import { createPreparedStock, type PreparedStock } from "./prepared/prepared-stock.js";
import type { Preparation } from "./prepared/waiting-sandboxes.js";
import { readSandboxOptions } from "./reading/read-options.js";
import { readPreparedOptions, refuseDecided } from "./reading/read-prepared.js";
import type { Sandbox, SandboxOptions } from "./sandbox.js";
import { type ConfinementHost, thisHost } from "./start/host.js";
import { type Layout, layOut } from "./start/lay-out.js";
import { refuseHere } from "./start/refuse-here.js";
import { boundStart } from "./start/start-bound.js";
import { orAborted } from "./waits/or-aborted.js";

/** What is the same in all sandboxes that are prepared, and how many wait. */
export interface PreparedSandboxesOptions {
  /**
   * The sandboxes are named `NAME-PID-RANDOM`: 1 to 40 letters, digits and dashes. A name is decided with its control groups,
   * before anybody asks for the sandbox; `record` is told it before anything of the command runs.
   */
  readonly name: string;
  readonly policy: ConfinementPolicy;
  /** The program, as in `SandboxOptions`. */
  readonly file: string;
  /** As in `SandboxOptions`. Default false. */
  readonly asPid1?: boolean | undefined;
  /** How many wait: 1 to 16. Default 1. */
  readonly count?: number | undefined;
  /** One that waited so long is replaced: 1_000 to 86_400_000 milliseconds. Default 600_000. */
  readonly maxAgeMs?: number | undefined;
}

/** What differs from one sandbox to the next, each as in `SandboxOptions`. */
export type PreparedStart = Pick<
  SandboxOptions,
  "args" | "env" | "cwd" | "record" | "startTimeoutMs" | "graceMs" | "signal"
>;

/** Opens sandboxes of one policy, whose set-up was over before they were asked for. */
export interface PreparedSandboxes extends AsyncDisposable {
  /**
   * As `openSandbox`. The sandboxes are the caller's to close. When none that would do waits, one is started from the beginning.
   * @throws {ConfinementError} `STARTER_CLOSED`, and what `openSandbox` throws.
   */
  open(start: PreparedStart): Promise<Sandbox>;
  /**
   * Resolves when as many wait as were asked for.
   * @throws {ConfinementError} `STARTER_CLOSED`, and what `openSandbox` throws, when one cannot be made. Also the signal's reason.
   */
  ready(options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /** Ends those that wait, and resolves when they are gone. Sandboxes that were opened live on. */
  close(): Promise<void>;
}

/**
 * Keeps whole sandboxes that wait for a command: made, compared, under their limits and their filter. Each runs one command, and
 * only when `openSandbox` would bind the very same now. They end with this process, also when that is killed, and do
 * not keep it alive.
 * @throws {ConfinementError} `SANDBOX_OPTION_INVALID`, and what `openSandbox` throws of the policy, the program and the machine.
 */
export function createPreparedSandboxes(options: PreparedSandboxesOptions): PreparedSandboxes {
  return createPreparedSandboxesOn(thisHost(), options);
}

/** As `createPreparedSandboxes`, on a machine that is passed in. */
export function createPreparedSandboxesOn(host: ConfinementHost, options: PreparedSandboxesOptions): PreparedSandboxes {
  const { name, count, maxAgeMs } = readPreparedOptions(options);
  const { policy, file, asPid1 } = options;
  const described = (start: PreparedStart): SandboxOptions => ({
    ...start,
    name: `${name}-${process.pid}-${randomBytes(6).toString("hex")}`,
    ...{ policy, file, asPid1 },
  });
  const layOutFor = (start: PreparedStart): Layout =>
    layOut(host, refuseHere(host), { ...readSandboxOptions(described(start)), handshake: "handed" });
  layOutFor(noCommand);
  sweepControlGroups(name);
  const prepare = (signal: AbortSignal): Preparation => prepareSandbox(host, layOutFor(noCommand), signal);
  const stock = createPreparedStock({ count, maxAgeMs, prepare });
  stock.fill();
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= stock.close());
  return {
    open: async (start) => {
      if (closing !== undefined) throw new ConfinementError("STARTER_CLOSED", "the prepared sandboxes were closed");
      refuseDecided(start);
      start.signal?.throwIfAborted();
      try {
        return await openFrom(stock, layOutFor(start), (signal) =>
          openSandboxOn(host, described({ ...start, signal })),
        );
      } finally {
        stock.fillSoon();
      }
    },
    ready: async ({ signal } = {}) => {
      signal?.throwIfAborted();
      const full = stock.whenFull(basisOf(layOutFor(noCommand)));
      await (signal === undefined ? full : orAborted(full, signal));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

const noCommand: PreparedStart = { args: [], env: {} };

/** One bound for both: what waited in vain has used up its part of the time. */
async function openFrom(
  stock: PreparedStock,
  layout: Layout,
  open: (signal: AbortSignal) => Promise<Sandbox>,
): Promise<Sandbox> {
  const bound = boundStart(layout.terms.startTimeoutMs, layout.terms.signal);
  try {
    return (await tryPrepared(stock, layout, bound)) ?? (await open(bound.signal));
  } finally {
    bound.release();
  }
}
