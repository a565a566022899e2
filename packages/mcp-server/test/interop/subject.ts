/** What a test may say of one call. */
export interface CallSettings {
  readonly onprogress?: (progress: {
    progress: number;
    total?: number | undefined;
    message?: string | undefined;
  }) => void;
  readonly signal?: AbortSignal;
  readonly timeout?: number;
  readonly resetTimeoutOnProgress?: boolean;
  readonly maxTotalTimeout?: number;
  /** `params._meta`. */
  readonly meta?: Record<string, unknown>;
}

export type ListKind = "tools" | "prompts" | "resources" | "resourceTemplates";
/** One page of a list. */
export interface Page {
  readonly items: readonly { readonly name: string }[];
  readonly nextCursor?: string | undefined;
}

/** The clients of the official SDK under one interface: as much of theirs as both lines have, so that one list of features serves both. */
export interface Subject extends AsyncDisposable {
  readonly era: "legacy" | "modern";
  readonly heard: Heard;
  revision(): string | undefined;
  identity(): unknown;
  instructions(): string | undefined;
  capabilities(): unknown;
  /** One page: the first for the cursor "". */
  page(kind: ListKind, cursor: string | undefined): Promise<Page>;
  call(name: string, args?: Record<string, unknown>, settings?: CallSettings): Promise<unknown>;
  prompt(name: string, args?: Record<string, string>): Promise<unknown>;
  complete(
    ref: CompletionRef,
    argument: { name: string; value: string },
    chosen?: Record<string, string>,
  ): Promise<unknown>;
  read(uri: string): Promise<unknown>;
  /** Resolves with what ends the subscription: in 2026-07-28 a listen of its own. */
  subscribe(uri: string): Promise<() => Promise<unknown>>;
  ping(): Promise<unknown>;
  setLevel(level: "debug" | "warning"): Promise<unknown>;
  rootsChanged(): Promise<unknown>;
}
export type CompletionRef = { type: "ref/prompt"; name: string } | { type: "ref/resource"; uri: string };

/** Notifications that a client was told of, in order. */
export class Heard {
  readonly #all: { readonly what: string; readonly value: unknown }[] = [];
  readonly #waiting = new Set<() => void>();

  tell(what: string, value: unknown): void {
    this.#all.push({ what, value });
    for (const wake of this.#waiting) wake();
  }

  of(what: string): readonly unknown[] {
    return this.#all.filter((one) => one.what === what).map(({ value }) => value);
  }

  /** Resolves as soon as so many were told. */
  async until(what: string, count: number): Promise<readonly unknown[]> {
    const signal = AbortSignal.timeout(10_000);
    while (this.of(what).length < count) {
      await new Promise<void>((resolve, reject) => {
        this.#waiting.add(resolve);
        signal.addEventListener("abort", () => reject(new Error(`${what} was not told ${count} times`)));
      });
    }
    this.#waiting.clear();
    return this.of(what);
  }
}
