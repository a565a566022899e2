import type { RawCredentials } from "../credentials.js";
import type { WriteAuthorities } from "../extensions/write-authority.js";
import type { Extensions } from "../extensions.js";
import type { JsonObject } from "../json.js";
import type { ExecutorTerms } from "../limits.js";
import type { HookForm } from "../payload/hook-forms.js";
import type { Work } from "../payload/payloads.js";
import type { GlobalContext, Violation } from "../plugin-call.js";
import type { PluginMode, PluginSettings } from "../plugin-config.js";
import type { HookExecution, Scheduler } from "../plugin-host.js";
import type { Redactor } from "../redact.js";
import type { DecisionLog } from "./decisions.js";

/** What stays the same while one hook runs. */
export interface HookSession {
  readonly hook: string;
  readonly form: HookForm;
  readonly context: GlobalContext;
  readonly credentials: RawCredentials | undefined;
  readonly redactor: Redactor;
  readonly settings: PluginSettings;
  readonly terms: ExecutorTerms;
  readonly scheduler: Scheduler;
  readonly authorities: WriteAuthorities;
  readonly decisions: DecisionLog;
  /** Ends the hook: the caller's, and the host's own. */
  readonly signal: AbortSignal;
}

/** What plugins have made of it so far. */
export interface HookProgress {
  work: Work;
  extensions: Extensions | undefined;
  /** Notes of each plugin, from the hook before and from this one. */
  readonly notes: Map<string, JsonObject>;
  /** What plugins noted for each other. */
  shared: JsonObject;
  metadata: JsonObject;
  httpHeaders: Readonly<Record<string, string>>;
  retryDelayMs: number;
  readonly executions: HookExecution[];
  denial: (Violation & { readonly plugin: string }) | undefined;
}

/** What a mode may do (CPEX fact sheet § 3). */
export interface Powers {
  readonly mayDeny: boolean;
  readonly mayModify: boolean;
  /** Whether what it notes for others, or says of the answer, counts. */
  readonly mayTell: boolean;
}

const NONE: Powers = { mayDeny: false, mayModify: false, mayTell: false };

/** By mode. */
export const POWERS: Readonly<Record<PluginMode, Powers>> = {
  sequential: { mayDeny: true, mayModify: true, mayTell: true },
  transform: { mayDeny: false, mayModify: true, mayTell: true },
  audit: NONE,
  concurrent: { mayDeny: true, mayModify: false, mayTell: true },
  fire_and_forget: NONE,
  disabled: NONE,
};
