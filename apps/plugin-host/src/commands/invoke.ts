import { createLogger, exitCodes, printJson, printLine, say } from "@berth/command-line";
import type { HookOutcome, PluginHost } from "@berth/venv-host/executor";
import { AppError } from "../errors.js";
import { ofExecutor } from "../hosting/executor-fault.js";
import { openHost } from "../hosting/open-host.js";
import { type HostFlags, readLogLevel } from "../options.js";
import { readDocuments } from "../read-input.js";
import { createAskHook } from "../rpc/ask-hook.js";
import { readCredentials } from "../rpc/credentials.js";
import { readExtensions } from "../rpc/extensions.js";
import { readContext } from "../rpc/hook-request.js";
import { objectOf, RequestFault } from "../rpc/json-members.js";
import { toldOutcome } from "../rpc/outcome.js";
import { interruptible } from "../serving/interruptible.js";

/** What the command line says. */
export interface InvokeFlags extends HostFlags {
  readonly payload: string;
  readonly context?: string | undefined;
  readonly extensions?: string | undefined;
  readonly credentials?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Runs one hook over the plugins of a file. Exit code 3 when one denies. */
export async function invokeCommand(hook: string, flags: InvokeFlags): Promise<number> {
  const { payload: from, context: of, extensions: about, credentials: tokens } = flags;
  const [payload, context, extensions, credentials] = await readDocuments([from, of, about, tokens]);
  const request = ofDocuments(() => ({
    hook,
    payload: objectOf(payload, "the payload"),
    globalContext: readContext(context),
    extensions: readExtensions(extensions),
    credentials: readCredentials(credentials),
  }));
  const logger = await createLogger(readLogLevel(flags.logLevel, "warn"));
  return interruptible(async (exits) => {
    const onProgress = (plugin: string, step: string): void => say(`plugin ${plugin}: ${step}`);
    const opened = await openHost(flags, { logger, command: "invoke", onProgress, signal: exits.signal });
    try {
      const isAsked = opened.host.hasHook(hook);
      if (!isAsked) say(unasked(hook, opened.host));
      const asker = { principal: "local", door: "command" } as const;
      const outcome = await createAskHook(opened)(asker, { ...request, signal: exits.signal }).catch(ofExecutor);
      if (flags.json === true) printJson(toldOutcome(outcome));
      else show(outcome, isAsked ? "allowed" : `allowed, since NO PLUGIN has the hook ${hook}: none was asked`);
      return outcome.allowed ? exitCodes.good : exitCodes.refused;
    } finally {
      await opened.close(exits.cause() ?? "done");
    }
  });
}

/** A misspelled hook is allowed by everybody: nobody should take that for a plugin's word. */
function unasked(hook: string, host: Pick<PluginHost, "list">): string {
  const known = new Set(host.list().flatMap((plugin) => (plugin.isDisabled ? [] : plugin.hooks)));
  const all = known.size === 0 ? "none at all" : [...known].sort().join(", ");
  return `WARNING: no plugin has the hook ${hook}, so none is asked; there are plugins for ${all}`;
}

/** @param allowedText What an allow is. */
function show(outcome: HookOutcome, allowedText: string): void {
  const { allowed, violation, executions, payload, result, httpHeaders } = outcome;
  for (const { plugin, status, durationMs, reason } of executions) {
    // The denial below says it: once is enough.
    const isToldBelow = plugin === violation?.plugin && reason === violation.reason;
    const why = reason === undefined || isToldBelow ? "" : `  ${reason}`;
    printLine(`${status.padEnd(9)}  plugin ${plugin}  ${durationMs.toFixed(1)} ms${why}`);
  }
  if (!allowed && violation !== undefined) {
    const { plugin, reason, code, description } = violation;
    printLine(`DENIED by plugin ${plugin}: ${reason} (${code})`);
    // Where nobody described the denial, the host made its description of the two.
    if (!["", reason, `plugin ${plugin}: ${reason}`].includes(description)) printLine(`  ${description}`);
    if (Object.keys(violation.details).length > 0) printLine(`  details ${JSON.stringify(violation.details)}`);
    return;
  }
  printLine(allowedText);
  printLine(`payload ${JSON.stringify(payload)}`);
  if (result !== undefined) printLine(`result ${JSON.stringify(result)}`);
  if (Object.keys(httpHeaders).length > 0) printLine(`headers ${JSON.stringify(httpHeaders)}`);
}

function ofDocuments<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RequestFault)) throw error;
    throw new AppError("PAYLOAD_INVALID", error.message);
  }
}
