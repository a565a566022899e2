/** A fault of a document, by the keys and positions that lead to it. Values may be secrets: a message leaves them out. */
export interface DocumentFault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** What a program says of a document's value: what it takes it for, or all that is wrong with it. */
export type DocumentCheck<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly faults: readonly DocumentFault[] };

/** One thing that is wrong with a document. Lines count from 1. */
export interface DocumentProblem {
  readonly line: number;
  readonly message: string;
}

/** A document, or everything that is wrong with it, in the order of its lines. */
export type DocumentReading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly DocumentProblem[] };
