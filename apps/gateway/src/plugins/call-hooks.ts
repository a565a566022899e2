import { randomUUID } from "node:crypto";
import type { Logger } from "@berth/command-line";
import type {
  CallInterception,
  InterceptedCall,
  InterceptedMethod,
  InterceptedRequest,
  InterceptionRefusal,
  InterceptionWait,
  Interceptor,
  RequestVerdict,
  ResultVerdict,
} from "@berth/mcp-relay";
import {
  type HookOutcome,
  type HookRequest,
  isPluginHostError,
  type JsonObject,
  type PluginHost,
} from "@berth/venv-host/executor";
import { cmfForms } from "./cmf-forms.js";
import { failureOf, refusalOf, unusable } from "./denial.js";
import { asGiven, type CallForm, plainForms } from "./hook-forms.js";

/** The hooks of each kind of call, in the order in which they are run. */
const formsOf: Readonly<Record<InterceptedMethod, readonly CallForm[]>> = {
  "tools/call": [plainForms["tools/call"], cmfForms["tools/call"]],
  "prompts/get": [plainForms["prompts/get"], cmfForms["prompts/get"]],
  "resources/read": [plainForms["resources/read"], cmfForms["resources/read"]],
};

/** All hooks that a gateway runs. */
export const callHookNames: readonly string[] = Object.values(formsOf).flatMap((forms) =>
  forms.flatMap(({ before, after }) => [before, after]),
);

/** What the hooks of calls need. */
export interface CallHooksOptions {
  readonly host: Pick<PluginHost, "run" | "hasHook">;
  readonly logger: Pick<Logger, "error" | "warn">;
}

/** Runs the hooks of plugins before and after each call; a call for which no plugin has a hook is not looked into. */
export function createCallHooks({ host, logger }: CallHooksOptions): Interceptor {
  return {
    begin(call) {
      const before = formsOf[call.method].filter((form) => host.hasHook(form.before));
      const after = formsOf[call.method].filter((form) => host.hasHook(form.after));
      if (before.length + after.length === 0) return undefined;
      const hooks = createHooksOfCall(call, { host, logger });
      return {
        mark: hooks.requestId,
        ...(before.length > 0 ? { before: (request, wait) => hooks.before(before, request, wait) } : {}),
        ...(after.length > 0 ? { after: (result, wait) => hooks.after(after, asGiven(result), wait) } : {}),
      } satisfies CallInterception;
    },
  };
}

/** The hooks of one call: all have one request id, and plugins find in the later what they noted in the earlier. */
interface HooksOfCall {
  readonly requestId: string;
  before(forms: readonly CallForm[], request: InterceptedRequest, wait: InterceptionWait): Promise<RequestVerdict>;
  after(forms: readonly CallForm[], result: JsonObject, wait: InterceptionWait): Promise<ResultVerdict>;
}

/** Ends a hook with a refusal. */
class Refused extends Error {
  override readonly name = "Refused";
  readonly refusal: InterceptionRefusal;
  constructor(refusal: InterceptionRefusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

function createHooksOfCall({ server, name }: InterceptedCall, { host, logger }: CallHooksOptions): HooksOfCall {
  const requestId = randomUUID();
  const globalContext = { requestId, serverId: server, state: {}, metadata: {} };
  let kept: Pick<HookRequest, "carried" | "extensions"> = {};
  let current: InterceptedRequest = { name, arguments: {} };

  /** The payload as plugins leave it; the same object when they let it be. */
  const run = async (hook: string, payload: JsonObject, { signal }: InterceptionWait): Promise<JsonObject> => {
    const outcome = await host.run({ hook, payload, globalContext, ...kept, signal }).catch((error: unknown) => {
      signal.throwIfAborted();
      if (isPluginHostError(error)) throw new Refused(failureOf(error, hook));
      throw error;
    });
    kept = { carried: outcome.carried, extensions: outcome.extensions };
    tellFailures(outcome, logger);
    const refusal = refusalOf(outcome, hook);
    if (refusal !== undefined) throw new Refused(refusal);
    return outcome.payload;
  };

  return {
    requestId,
    before: (forms, request, wait) =>
      orRefusal(async () => {
        current = request;
        for (const form of forms) {
          const payload = form.request(current, requestId);
          const left = await run(form.before, payload, wait);
          if (left !== payload) current = form.readRequest(left, current) ?? refuse(form.before);
        }
        if (current === request) return { kind: "pass" };
        return { kind: "rewrite", name: current.name, arguments: current.arguments };
      }),
    after: (forms, result, wait) =>
      orRefusal(async () => {
        let given = result;
        for (const form of forms) {
          for (const part of form.parts(given, current.name)) {
            const payload = part.payload(given, requestId);
            const left = await run(form.after, payload, wait);
            if (left !== payload) given = part.read(left, given) ?? refuse(form.after);
          }
        }
        return given === result ? { kind: "pass" } : { kind: "rewrite", result: given };
      }),
  };
}

async function orRefusal<T>(work: () => Promise<T>): Promise<T | InterceptionRefusal> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
}

function refuse(hook: string): never {
  throw new Refused(unusable(hook));
}

/** The client is not told why a plugin failed: that is for its operator. */
function tellFailures({ executions }: HookOutcome, logger: CallHooksOptions["logger"]): void {
  for (const { plugin, hook, status, reason } of executions) {
    if (status === "failed" || status === "timed_out") logger.error({ plugin, hook }, `failed: ${reason ?? status}`);
  }
}
