import { ChainError } from "./errors.js";

/** What is known of a chain's failure, and whether anyone was told of it. */
export interface Failures {
  /** The chain cannot go on: something could not be kept. Answers the error for whoever waits for just that. */
  record(cause: unknown): ChainError;
  /** Something that was acknowledged could not be kept: whoever comes next is to be told. */
  leaveUntold(error: ChainError): void;
  /** The error for a caller who comes now; undefined when all is well. The caller is then told. */
  tell(): ChainError | undefined;
  /** Why nothing may be added any more; undefined when all is well. */
  readonly lasting: ChainError | undefined;
  readonly untold: ChainError | undefined;
}

/** No failure yet. */
export function createFailures(): Failures {
  let lasting: ChainError | undefined;
  let untold: ChainError | undefined;
  return {
    record: (cause) => {
      const why = cause instanceof Error ? cause.message : String(cause);
      const whole = `an earlier entry could not be kept, so none may follow: ${why}`;
      lasting ??= new ChainError("CHAIN_FAILED", whole, { cause });
      return new ChainError("WRITE_FAILED", `the entry could not be kept: ${why}`, { cause });
    },
    leaveUntold: (error) => {
      untold = error;
    },
    tell: () => {
      const error = untold ?? lasting;
      untold = undefined;
      return error;
    },
    get lasting() {
      return lasting;
    },
    get untold() {
      return untold;
    },
  };
}
