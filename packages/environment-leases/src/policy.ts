/** Network of an environment. `internet` reaches private networks too where a provider has it at all. */
export type NetworkMode = "none" | "internet" | "allowlist";
/** Scope of the broker's managed installs; says nothing about imports from files that the guest may write. */
export type PackageMode = "disabled" | "environment" | "system";

/** What an environment may do, as an operator writes it. Left out means denied. */
export interface ResourcePolicy {
  /** Default `none`. */
  readonly network?: NetworkMode | undefined;
  /** Needed with `allowlist`, refused without: at most 256 of `host`, `host:port` or `*.suffix`, lower case, no address literals, no duplicates. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** May the guest become its own administrator. Never anything of the host. Default false. */
  readonly elevation?: boolean | undefined;
  /** Default `disabled`. */
  readonly packages?: PackageMode | undefined;
  /** May requests be relayed to the guest's loopback. Default false. */
  readonly exposeResources?: boolean | undefined;
  /** Ports that `requestResource` may reach: 1 to 65_535, at most 64. Needed with `exposeResources`, refused without. */
  readonly exposedPorts?: readonly number[] | undefined;
  /** Longest time of one command: 1 to 86_400_000 milliseconds. Default 300_000. */
  readonly commandTimeoutMs?: number | undefined;
  /** Bounds that the provider must hold; a provider that cannot hold one refuses the profile. */
  readonly limits?: EnvironmentLimits | undefined;
}

/** Bounds of one environment. Units and ranges as in process-confinement's ConfinementLimits. */
export interface EnvironmentLimits {
  readonly memoryBytes?: number | undefined;
  readonly processes?: number | undefined;
  readonly cpus?: number | undefined;
  readonly fileBytes?: number | undefined;
  readonly openFiles?: number | undefined;
  /** Size of the workspace: 1 MiB to 64 GiB. Default 256 MiB. */
  readonly workspaceBytes?: number | undefined;
  /** Size of /tmp: 64 KiB to 64 GiB. Default 64 MiB. */
  readonly tmpBytes?: number | undefined;
}

/** ResourcePolicy with defaults filled in; the only form that internal code and providers see. Frozen. */
export interface ResourceTerms {
  readonly network: NetworkMode;
  readonly allowedHosts: readonly string[];
  readonly elevation: boolean;
  readonly packages: PackageMode;
  readonly exposeResources: boolean;
  readonly exposedPorts: readonly number[];
  readonly commandTimeoutMs: number;
  readonly limits: EnvironmentLimits & { readonly workspaceBytes: number; readonly tmpBytes: number };
}
