import type { ConfinementLimits, SandboxOptions } from "@berth/process-confinement";

/** What a sandbox for a plugin is made of. */
export interface PluginSandboxParts {
  /** Seen read-only, each at its own path; none lies in another. */
  readonly trees: readonly string[];
  /** The one folder that may be written: on this machine, and inside. */
  readonly data: { readonly source: string; readonly target: string };
  readonly limits?: ConfinementLimits | undefined;
  readonly tmpBytes?: number | undefined;
  readonly command: {
    readonly file: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
    readonly cwd: string;
  };
}

/** The sandbox of a plugin. Whoever tries what holds for plugins has to try this one. Pure. */
export function pluginSandbox({
  trees,
  data,
  limits,
  tmpBytes,
  command,
}: PluginSandboxParts): Omit<SandboxOptions, "name" | "signal"> {
  return {
    policy: {
      readOnly: trees.map((source) => ({ source })),
      workspace: { kind: "folder", ...data },
      network: { mode: "none" },
      limits,
      tmpBytes,
    },
    // Not the plugin itself: of a program that it is given process-confinement shows what its #! line and its ELF headers name,
    // and these were written by an attacker. The shell becomes the plugin.
    file: "/bin/sh",
    args: ["-c", 'exec "$0" "$@"', command.file, ...command.args],
    env: command.env,
    cwd: command.cwd,
  };
}
