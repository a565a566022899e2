/** Something that code showed, in each form that it has: MIME type → text, base64 for binary types. */
export interface Display {
  readonly data: Readonly<Record<string, string>>;
  /** `display()` or a figure, or the value of the last expression. */
  readonly kind: "display" | "result";
}

/** An exception of the code, not of ours. */
export interface CodeFault {
  /** Class name, `ZeroDivisionError`. */
  readonly name: string;
  readonly message: string;
  /** Only frames of the caller's own code and below, without terminal colours unless asked for. */
  readonly traceback: string;
}

/** Text in the order in which it came. */
export interface OutputText {
  readonly text: string;
  /** Whole size in bytes of UTF-8, also of what is not in `text`. */
  readonly bytes: number;
  readonly truncated: boolean;
}

/** What became of one piece of code. Carried as a type from the worker to every door; never guessed from its text. */
export interface Outcome {
  readonly status: "ok" | "error" | "interrupted" | "timeout" | "dead";
  readonly stdout: OutputText;
  readonly stderr: OutputText;
  /** stdout and stderr as they were interleaved, as far as kept. */
  readonly output: OutputText;
  /** `text/plain` of the last expression's value; undefined for none. */
  readonly result: string | undefined;
  readonly displays: readonly Display[];
  readonly displaysDropped: number;
  /** With `error`; with `interrupted` and `timeout`, where it stopped. */
  readonly fault: CodeFault | undefined;
  /** With `dead` and `timeout`: what happened, one sentence. */
  readonly reason: string | undefined;
  readonly durationMs: number;
  /** Processor time of the worker for this call. */
  readonly cpuMs: number | undefined;
  /** Number of this call in its session, from 1. */
  readonly count: number;
  /** Where the whole output is when it was truncated: `files.read` of the session; undefined when nothing was spilled. */
  readonly spill: string | undefined;
  /** Why code could do less than usual there, for a person: as the status of the session says. */
  readonly restriction?: string | undefined;
}

/** Told while code runs. */
export type OutputEvent =
  | { readonly kind: "stdout" | "stderr"; readonly text: string }
  | { readonly kind: "display"; readonly display: Display };
