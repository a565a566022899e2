// Loaded before the real command (`node --import`): gives it leases whose store, providers and recorder are counted, and
// which end the process with SIGKILL at one call. Only the command's own import is changed, nothing of its code.
import { registerHooks } from "node:module";

const counted = new URL("counted-leases.mjs", import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const isCommand = context.parentURL?.includes("/apps/shipyard/dist/") === true;
    if (specifier !== "@berth/environment-leases" || !isCommand) return next(specifier, context);
    return { url: counted, format: "module", shortCircuit: true };
  },
});
