/** A `plugin.json`, checked, with defaults filled in (PROTOCOL.md § 1). */
export interface PluginManifest {
  readonly name: string;
  readonly version: string;
  readonly protocol: 1;
  readonly process: {
    /** Begins with `./`. */
    readonly command: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  };
  readonly permissions: { readonly network: "none" };
  /** Whether it serves the MCP half. */
  readonly mcp: boolean;
}

/** What reading a manifest gives: every fault at once, one sentence with the key each. */
export type ManifestReading =
  | { readonly ok: true; readonly manifest: PluginManifest }
  | { readonly ok: false; readonly problems: readonly string[] };
