import { type ConfinementErrorCode, isConfinementError } from "@berth/process-confinement";
import { ProcessPluginError, type ProcessPluginErrorCode } from "../errors.js";

/** An error of process-confinement in this package's terms, with its cure as advice; what is none is given back. */
export function confinementRefusal(error: unknown, plugin: string | undefined): unknown {
  if (!isConfinementError(error)) return error;
  return new ProcessPluginError(codeFor(error.code), error.message, { plugin, advice: error.cure, cause: error });
}

function codeFor(code: ConfinementErrorCode): ProcessPluginErrorCode {
  switch (code) {
    case "CONFINEMENT_UNAVAILABLE":
    case "LIMIT_NOT_ENFORCEABLE":
    case "PLATFORM_UNSUPPORTED":
    case "SPAWN_FROM_WORKER":
      return "CONFINEMENT_UNAVAILABLE";
    case "POLICY_INVALID":
    case "SANDBOX_OPTION_INVALID":
    case "PATH_NOT_FOUND":
    case "INTERPRETER_NOT_FOUND":
      return "OPTION_INVALID";
    case "SANDBOX_NOT_ENDED":
      return "PLUGIN_NOT_ENDED";
    default:
      return "PLUGIN_NOT_STARTED";
  }
}
