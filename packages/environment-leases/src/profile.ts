import type { ResourcePolicy, ResourceTerms } from "./policy.js";

/** A folder of the host that the guest sees. Its content is an attacker's once it may be written. */
export interface ProfileMount {
  /** Absolute path on the host; must exist when the environment is created. */
  readonly source: string;
  /** Absolute path inside, not under the workspace. */
  readonly target: string;
  /** Default false. */
  readonly writable?: boolean | undefined;
  /** What a writable one may hold: 1 MiB to 1 TiB. Watched: the environment is ended (`disk`) when it is over, and in one that starts while it is over nothing can be written. Default: no bound. */
  readonly maxBytes?: number | undefined;
}

/** A kind of environment that the operator approved. Clients name profiles; they never write one. */
export interface EnvironmentProfile {
  /** Name of a provider: 1 to 64 letters, digits, dots, dashes, underscores. */
  readonly provider: string;
  /** What the provider starts from: an image, a snapshot; for bubblewrap an interpreter, `python3` or an absolute path. 1 to 1_024 characters. */
  readonly template: string;
  /** Guest operating system. Default `linux`. */
  readonly platform?: string | undefined;
  /** Default: everything denied. */
  readonly policy?: ResourcePolicy | undefined;
  /** Makes the terminal available. Default false. */
  readonly shell?: boolean | undefined;
  /** At most 16. Default none. */
  readonly mounts?: readonly ProfileMount[] | undefined;
  /** Environment variables of every command; the guest sees these and nothing of ours. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** EnvironmentProfile with defaults filled in, and its name. Frozen. */
export interface ProfileTerms {
  readonly name: string;
  readonly provider: string;
  readonly template: string;
  readonly platform: string;
  readonly policy: ResourceTerms;
  readonly shell: boolean;
  readonly mounts: readonly ProfileMount[];
  readonly env: Readonly<Record<string, string>>;
}
