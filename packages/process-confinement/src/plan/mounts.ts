/** One thing that the sandbox's file tree is made of. */
export type Mount =
  | { readonly kind: "read" | "write"; readonly source: string; readonly target: string }
  /** A file system in memory with a size of its own. */
  | { readonly kind: "memory"; readonly target: string; readonly bytes: number; readonly mode: string }
  | { readonly kind: "link"; readonly target: string; readonly to: string }
  | TextMount;

/** A file of our own, written into the root file system before that becomes read-only. */
export interface TextMount {
  readonly kind: "text";
  readonly target: string;
  readonly content: string;
}

/** A mount and the member of the policy that asked for it. */
export interface AskedMount {
  readonly field: string;
  readonly mount: Mount;
}
