import type { InterpreterPin } from "./description.js";
import type { Interpreter } from "./measurement.js";

/**
 * What to keep of an interpreter that is trusted from now on: the value for `spawn.interpreter`. An empty list of parts
 * is kept as well: a pyvenv.cfg that appears beside it later is a difference.
 */
export function interpreterPin({ path, digest, parts }: Interpreter): InterpreterPin {
  return { path, digest, parts };
}
