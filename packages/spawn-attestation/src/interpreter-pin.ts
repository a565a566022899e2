import type { InterpreterPin } from "./description.js";
import type { Interpreter } from "./measurement.js";

/** What to keep of an interpreter that is trusted from now on: the value for `spawn.interpreter`. */
export function interpreterPin({ path, digest, parts }: Interpreter): InterpreterPin {
  return parts.length === 0 ? { path, digest } : { path, digest, parts };
}
