import { isProcessPluginError, type ProcessPluginError } from "../../src/errors.js";

/** The error of this package that a promise rejects with; anything else fails the test. */
export async function rejection(promise: Promise<unknown>): Promise<ProcessPluginError> {
  try {
    await promise;
  } catch (error) {
    if (isProcessPluginError(error)) return error;
    throw error;
  }
  throw new Error("it did not reject");
}
