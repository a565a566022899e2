import { errorText } from "../error-text.js";
import { PluginHostError } from "../errors.js";
import type { WriteAuthority } from "../extensions/write-authority.js";
import type { ExecutorTerms } from "../limits.js";
import type { PluginEntry } from "../plugin-config.js";
import type { Scheduler } from "../plugin-host.js";
import type { PluginHealth, PluginKind, RunningPlugin, WaitOptions } from "../plugin-kind.js";
import { createRedactor, type Redactor } from "../redact.js";
import { inTime, untilAborted } from "../until-aborted.js";
import { createPluginOpener, type PluginOpener } from "./plugin-opener.js";

/** Tokens that a plugin's late log lines are still searched for. */
const MAX_REMEMBERED_TOKENS = 64;

/** A plugin as a host holds it: not started, being made ready, or running. */
export interface PluginSlot {
  readonly entry: PluginEntry;
  readonly capabilities: ReadonlySet<string>;
  readonly authority: WriteAuthority;
  readonly evidence: RunningPlugin["evidence"];
  readonly isDisabled: boolean;
  /** Until the process ends. */
  disable(): void;
  /** The running plugin; all callers share one opening, which an aborted wait does not end. */
  open(signal: AbortSignal): Promise<RunningPlugin>;
  /** From now on the plugin's own lines are searched for the token. */
  hide(token: string): void;
  health(wait: WaitOptions): Promise<PluginHealth>;
  close(): Promise<void>;
}

/** What a slot is made of. */
export interface PluginSlotOptions {
  readonly entry: PluginEntry;
  readonly kind: PluginKind;
  readonly capabilities: ReadonlySet<string>;
  readonly authority: WriteAuthority;
  readonly terms: ExecutorTerms;
  readonly scheduler: Scheduler;
  readonly onProgress: (step: string) => void;
  readonly onLog: (line: string) => void;
}

export function createPluginSlot(options: PluginSlotOptions): PluginSlot {
  const { entry, capabilities, authority, terms, scheduler } = options;
  const ending = new AbortController();
  const log = createHidingLog(options.onLog);
  const opener = createPluginOpener({
    entry,
    kind: options.kind,
    openTimeoutMs: terms.openTimeoutMs,
    scheduler,
    ending: ending.signal,
    onProgress: options.onProgress,
    onLog: log.write,
  });
  let isDisabled = false;
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    ending.abort(new PluginHostError("HOST_CLOSED", "the host of plugins is closed"));
    const timeoutMs = terms.closeTimeoutMs;
    const late = (): Error => new PluginHostError("PLUGIN_TIMEOUT", `${entry.name} did not end within ${timeoutMs} ms`);
    await inTime(opener.close, { scheduler, timeoutMs, late, followed: [] });
  };
  return {
    entry,
    capabilities,
    authority,
    get evidence() {
      return opener.running?.evidence;
    },
    get isDisabled() {
      return isDisabled;
    },
    disable: () => {
      isDisabled = true;
    },
    open: async (signal) => opener.running ?? untilAborted(opener.open(), signal),
    hide: log.hide,
    health: async (wait) => log.hideIn(await readHealth(opener, wait, terms, scheduler, ending.signal)),
    close: () => (closing ??= close()),
  };
}

async function readHealth(
  opener: PluginOpener,
  { signal }: WaitOptions,
  terms: ExecutorTerms,
  scheduler: Scheduler,
  ending: AbortSignal,
): Promise<PluginHealth> {
  const { running, fault } = opener;
  // Health is told beside the plugin's name: of a fault of its opening only what it comes from is news.
  if (running === undefined) {
    return fault === undefined
      ? { state: "idle", message: "not started" }
      : { state: "failed", message: errorText(fault.cause) };
  }
  const timeoutMs = terms.healthTimeoutMs;
  const late = (): Error => new PluginHostError("PLUGIN_TIMEOUT", `no answer within ${timeoutMs} ms`);
  const followed = [signal, ending];
  try {
    return await inTime((linked) => running.health({ signal: linked }), { scheduler, timeoutMs, late, followed });
  } catch (error) {
    signal?.throwIfAborted();
    return { state: "failed", message: errorText(error) };
  }
}

interface HidingLog {
  hide(token: string): void;
  hideIn(health: PluginHealth): PluginHealth;
  write(line: string): void;
}

/** The last tokens that the plugin was given are replaced in what it says: its lines may come after its answer. */
function createHidingLog(onLog: (line: string) => void): HidingLog {
  let tokens: readonly string[] = [];
  let redactor: Redactor = createRedactor([]);
  return {
    hide: (token) => {
      if (tokens.includes(token)) return;
      tokens = [...tokens, token].slice(-MAX_REMEMBERED_TOKENS);
      redactor = createRedactor(tokens);
    },
    hideIn: ({ state, message }) => ({ state, message: redactor.text(message) }),
    write: (line) => onLog(redactor.text(line)),
  };
}
