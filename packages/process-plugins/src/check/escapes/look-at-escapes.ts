import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isProcessPluginError } from "../../errors.js";
import type { Bench } from "../bench.js";
import type { RunKind, RunSetting } from "../conversation/run-plugin.js";
import type { Ledger } from "../looks/ledger.js";
import type { Aims } from "./attempt.js";
import { type PluginAttempt, pluginAttempts } from "./attempt.js";
import { judgeAttempt, type Verdict } from "./judge-attempt.js";
import { tryKit } from "./kit.js";
import { openListeners } from "./targets.js";
import { type Trial, tryAttempts } from "./try-attempts.js";
import { startVictim } from "./victim.js";

/** What the escapes that a plugin makes itself are called in findings. */
export const ownEscapes = ["escape:escape_secrets", "escape:escape_network"] as const;

/** The plugin's own attempts, confined and not, then those of the kit. */
export async function lookAtEscapes(setting: RunSetting, bench: Bench, ledger: Ledger): Promise<void> {
  const { options } = setting;
  if (options.allowUnconfined === true) {
    for (const name of ownEscapes) ledger.skipped(name, "there is nothing to escape from: it runs unconfined");
    return;
  }
  const aims = await openAims(bench);
  try {
    options.onStep?.("its own escapes, confined and then, as a control, with your rights and outside of any sandbox");
    await tryOwn(setting, bench, ledger, aims);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (!isProcessPluginError(error)) throw error;
    for (const name of ownEscapes) ledger.failed(name, error.message, error.advice);
  } finally {
    await aims.close();
  }
  if (options.escapes === true) await tryKit(setting, ledger);
}

async function tryOwn(setting: RunSetting, bench: Bench, ledger: Ledger, aims: Aims): Promise<void> {
  const shaOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
  const { secretsDir, secret } = bench.targets;
  const hostReads = (): boolean => readFileSync(join(secretsDir, "secret")).equals(secret);
  const attempts = pluginAttempts(aims, shaOf);
  const trial = (kind: RunKind): Promise<Trial> => tryAttempts(setting, bench, kind, attempts, aims, hostReads);
  const confined = await trial("confined");
  if (!attempts.some(({ id }) => confined.tried.has(id))) return skipAll(ledger);
  const unwrapped = await trial("bare");
  const hasAttempts = attempts.some(({ id, tool }) => tool === "escape_attempt" && confined.tried.has(id));
  const made = attempts.filter(({ tool }) => hasAttempts || tool !== "escape_attempt");
  for (const attempt of made) writeDown(attempt, judgeAttempt(attempt, confined, unwrapped), ledger);
}

function skipAll(ledger: Ledger): void {
  for (const name of ownEscapes) ledger.skipped(name, "the plugin has no such tool");
}

function writeDown({ id }: PluginAttempt, { outcome, seen, controls }: Verdict, ledger: Ledger): void {
  const name = `escape:${id}`;
  const isNumbered = ownEscapes.some((each) => each === name);
  // Each machine and each user can show the numbered ones: there, a control that does not hold is a fault.
  const excused = !isNumbered && controls.every((each) => each.held || each.name === "without-protection");
  if (outcome === "refused") ledger.passed(name, seen, { controls });
  else if (outcome === "escaped")
    ledger.failed(name, seen, "do not run plugins here until it is understood", { controls });
  else if (outcome === "unsupported" || excused) ledger.skipped(name, seen, { controls });
  else ledger.failed(name, seen, "its tools have to say what the system answered, confined and not", { controls });
}

async function openAims(bench: Bench): Promise<Aims & { close(): Promise<void> }> {
  const abstractName = `berth-check-${process.pid}-${createHash("sha256").update(bench.targets.secret).digest("hex")}`;
  const socketPath = join(bench.targets.secretsDir, "socket");
  const listeners = await openListeners(abstractName, socketPath);
  const victim = await startVictim();
  return {
    ...{ bench: bench.targets, listeners, victim, abstractName, socketPath },
    close: async () => {
      await victim.close();
      await listeners.close();
    },
  };
}
