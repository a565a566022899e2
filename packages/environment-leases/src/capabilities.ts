import type { EnvironmentLimits, NetworkMode, PackageMode } from "./policy.js";

/**
 * What a provider can hold, as its own probe showed; never from clients or from image metadata. A denial is a capability
 * too: who cannot deny elevation may not list `false`.
 */
export interface RuntimeCapabilities {
  /** Foreign code cannot reach the host or other environments. A provider without it is `unconfined` in every status and record. */
  readonly isolated: boolean;
  /** Guest operating systems: `linux` and so on. */
  readonly platforms: readonly string[];
  readonly networkModes: readonly NetworkMode[];
  readonly elevationModes: readonly boolean[];
  readonly packageModes: readonly PackageMode[];
  readonly exposureModes: readonly boolean[];
  readonly shell: boolean;
  /** Limits that are really held. */
  readonly limits: readonly (keyof EnvironmentLimits)[];
  /** Combinations that do not work although each part does. A profile that matches one is refused with its reason. */
  readonly unsupported?: readonly UnsupportedCombination[] | undefined;
  /**
   * Advice for what is missing above, one sentence each: by value for networks, packages and platforms (`internet`), by name
   * for limits (`memoryBytes`), `shell`, `isolated`, `elevation`, `exposeResources`; `no-elevation` and `no-exposeResources`
   * where the denial is missing.
   */
  readonly advice?: Readonly<Record<string, string>> | undefined;
}

/** Members that are named must all be equal for the combination to match. */
export interface UnsupportedCombination {
  readonly network?: NetworkMode | undefined;
  readonly elevation?: boolean | undefined;
  readonly packages?: PackageMode | undefined;
  readonly exposeResources?: boolean | undefined;
  readonly shell?: boolean | undefined;
  readonly reason: string;
}
