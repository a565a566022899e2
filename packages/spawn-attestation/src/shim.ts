/** A question to a version manager's shim: run `file` with `args` and give back what it prints. */
export interface ShimQuestion {
  readonly file: string;
  readonly argv0: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** Runs the question and resolves with its standard output; bounded in time and size by whoever implements it. */
export type AskInterpreter = (
  question: ShimQuestion,
  options: { readonly signal?: AbortSignal | undefined },
) => Promise<string>;
