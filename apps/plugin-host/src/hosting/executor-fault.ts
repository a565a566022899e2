import { isPluginHostError } from "@berth/venv-host/executor";
import { AppError } from "../errors.js";

/** For `catch`: what the executor refuses of a file or a request, as an error of ours; any other error again. */
export function ofExecutor(error: unknown): never {
  if (!isPluginHostError(error)) throw error;
  switch (error.code) {
    case "CONFIG_INVALID":
    case "KIND_UNKNOWN":
      throw new AppError("CONFIG_INVALID", "the plugins cannot be run as they are configured", { lines: error.faults });
    case "PAYLOAD_INVALID":
    case "OPTION_INVALID":
      throw new AppError("PAYLOAD_INVALID", error.message);
    default:
      throw error;
  }
}
