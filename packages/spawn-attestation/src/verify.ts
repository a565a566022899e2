/** An in-toto Statement (v1) about one launch. Plain JSON. */
export interface Statement {
  readonly _type: "https://in-toto.io/Statement/v1";
  readonly subject: readonly { readonly name: string; readonly digest: Readonly<Record<string, string>> }[];
  readonly predicateType: string;
  readonly predicate: LaunchPredicate;
}

/** What was launched. */
export interface LaunchPredicate {
  readonly evidence: "spawn-measured" | "spawn-unmeasured";
  readonly guard: "recheck" | "snapshot" | "none";
  readonly executable: { readonly path: string; readonly realPath: string; readonly digest: string };
  readonly interpreter?:
    | {
        readonly family: string;
        readonly kind: string;
        readonly path: string;
        readonly realPath: string;
        readonly digest: string;
      }
    | undefined;
  readonly target: { readonly path: string; readonly inArgv: boolean };
  readonly coverage: {
    readonly scope: "file" | "tree";
    readonly root: string;
    readonly ignore: readonly string[];
    readonly leavesOut: readonly string[];
  };
  /** `sha256:` of the UTF-8 bytes of the JSON array `[argv0, ...args]` as written. */
  readonly argvDigest: string;
  readonly environmentNames: readonly string[];
  readonly cwd: string;
  /** RFC 3339, UTC. */
  readonly time: string;
}

/** A DSSE envelope (v1). */
export interface Envelope {
  readonly payloadType: string;
  /** Base64. */
  readonly payload: string;
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[];
}
