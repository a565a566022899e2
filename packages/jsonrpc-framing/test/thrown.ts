import { FramingError } from "../src/index.js";

/** The FramingError that `run` throws. */
export function thrown(run: () => unknown): FramingError {
  try {
    run();
  } catch (error) {
    if (error instanceof FramingError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

/** The code of what `run` throws, or "none". */
export function codeOf(run: () => unknown): string {
  try {
    run();
    return "none";
  } catch (error) {
    if (error instanceof FramingError) return error.code;
    throw error;
  }
}
