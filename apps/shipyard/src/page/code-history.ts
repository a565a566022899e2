/** What was run before, walked with the arrow keys. */
export interface CodeHistory {
  add(code: string): void;
  /** The one before; `draft` is kept for the way back. Undefined at the oldest. */
  older(draft: string): string | undefined;
  /** The one after, the draft at last. Undefined where there is none. */
  newer(): string | undefined;
}

export function createCodeHistory(maxEntries: number): CodeHistory {
  const entries: string[] = [];
  let at = 0;
  let kept = "";
  return {
    add(code) {
      if (entries.at(-1) !== code) entries.push(code);
      if (entries.length > maxEntries) entries.shift();
      at = entries.length;
    },
    older(draft) {
      if (at === 0) return undefined;
      if (at === entries.length) kept = draft;
      at -= 1;
      return entries[at];
    },
    newer() {
      if (at >= entries.length) return undefined;
      at += 1;
      return at === entries.length ? kept : entries[at];
    },
  };
}
