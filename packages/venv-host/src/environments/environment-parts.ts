import { canonicalDigest } from "../canonical.js";
import type { EnvironmentKey } from "./environment-store.js";
import type { Installer, Installers } from "./installer.js";
import { indexIdentity, installerEnvironment } from "./installer-environment.js";
import type { Interpreter, Interpreters } from "./interpreter.js";
import { type Requirements, readRequirements } from "./requirements/read-requirements.js";
import type { RequestTerms, StoreTerms } from "./store-terms.js";

/** The version of how environments are made and checked: another one never takes an older one's for its own. */
export const environmentFormat = 2;

/** All that a build needs, and the key of it. */
export interface Plan {
  readonly key: EnvironmentKey;
  /** Of what was asked for, whatever came of it: finds the environment that this one follows. */
  readonly subject: string;
  readonly interpreter: Interpreter;
  /** Undefined when nothing is to be installed. */
  readonly installer: Installer | undefined;
  readonly requirements: Requirements;
  readonly env: Readonly<Record<string, string>>;
}

/** Finds out what a request means now. */
export async function planOf(
  request: RequestTerms,
  terms: StoreTerms,
  tools: { readonly interpreters: Interpreters; readonly installers: Installers },
  signal: AbortSignal | undefined,
): Promise<Plan> {
  const env = installerEnvironment(terms.index, terms.env, process.env);
  const interpreter = await tools.interpreters.identify(request.interpreter, signal);
  const requirements = await readRequirements(request.requirements, request.constraints, {
    env,
    requireHashes: terms.requireHashes,
    mayChooseIndex: terms.index.from === "default",
    signal,
  });
  const isEmpty = requirements.lines.every((line) => line.startsWith("-"));
  const installer = isEmpty ? undefined : await tools.installers.find(interpreter, signal);
  const { prefix: _prefix, ...identity } = interpreter;
  const parts = {
    format: environmentFormat,
    interpreter: identity,
    installer: installer?.version ?? "none",
    index: indexIdentity(terms.index, env),
    requireHashes: terms.requireHashes,
    onlyWheels: terms.onlyWheels,
    // What may have been installed without a sandbox is not what was asked for.
    isConfined: terms.confine !== undefined && terms.ifNotConfined === "refuse",
    ...requirements.identity,
  };
  const key = { digest: canonicalDigest(parts), parts };
  return { key, subject: canonicalDigest(request), interpreter, installer, requirements, env };
}
