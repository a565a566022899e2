import { cancelTask, getTask, updateTask } from "../tasks/methods.js";
import { type PermissionKind, visibleOf } from "./authorize.js";
import { completeArgument } from "./completions.js";
import type { RequestContext } from "./context.js";
import type { Core, ListName, Reply } from "./core.js";
import { complete } from "./core.js";
import { discover, initialize, setLevel } from "./lifecycle.js";
import { getPrompt } from "./prompts.js";
import { hasOwnResources, hasPrompts, hasResources, hasTools } from "./registry.js";
import { readResource, subscribe, unsubscribe } from "./resources.js";
import { listen } from "./subscriptions.js";
import { callTool } from "./tools.js";

/** One method of the protocol. */
export interface Method<P> {
  readonly era: "legacy" | "modern" | "both";
  run(core: Core<P>, context: RequestContext<P>): Reply | Promise<Reply>;
}

/** The methods that a server with these registrations answers; any other is unknown. */
export function methodsOf<P>(core: Core<P>): ReadonlyMap<string, Method<P>> {
  const { registry } = core;
  const methods = new Map<string, Method<P>>([
    ["initialize", { era: "legacy", run: initialize }],
    ["ping", { era: "legacy", run: complete0 }],
    ["logging/setLevel", { era: "legacy", run: setLevel }],
    ["server/discover", { era: "modern", run: discover }],
    ["subscriptions/listen", { era: "modern", run: listen }],
  ]);
  if (hasTools(registry)) {
    methods.set("tools/list", listMethod("tools", "tool"));
    methods.set("tools/call", { era: "both", run: callTool });
  }
  if (core.tasks !== undefined) {
    methods.set("tasks/get", { era: "modern", run: getTask });
    methods.set("tasks/update", { era: "modern", run: updateTask });
    methods.set("tasks/cancel", { era: "modern", run: cancelTask });
  }
  if (hasPrompts(registry)) {
    methods.set("prompts/list", listMethod("prompts", "prompt"));
    methods.set("prompts/get", { era: "both", run: getPrompt });
  }
  if (hasResources(registry)) {
    methods.set("resources/list", listMethod("resources", "resource"));
    methods.set("resources/templates/list", listMethod("resourceTemplates", "resourceTemplate"));
    methods.set("resources/read", { era: "both", run: readResource });
  }
  if (hasOwnResources(registry)) {
    methods.set("resources/subscribe", { era: "legacy", run: subscribe });
    methods.set("resources/unsubscribe", { era: "legacy", run: unsubscribe });
  }
  if (core.hasCompletions) methods.set("completion/complete", { era: "both", run: completeArgument });
  return methods;
}

function complete0<P>(core: Core<P>, context: RequestContext<P>): Reply {
  return complete(core, context, {});
}

function listMethod<P>(name: ListName, kind: PermissionKind): Method<P> {
  return {
    era: "both",
    async run({ lists, options }, context) {
      const list = lists[name];
      const visible = await visibleOf(options.authorize, context, kind, list.entries);
      return list.page(context.revision, visible, context.params["cursor"]);
    },
  };
}
