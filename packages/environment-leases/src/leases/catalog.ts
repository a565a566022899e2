import { isLeaseError, LeaseError } from "../errors.js";
import type { LeasesOptions, ProfileStatus } from "../leases-contract.js";
import type { ProfileTerms } from "../profile.js";
import type { ManagedProvider } from "../provider.js";
import { readProfile } from "../reading/read-profile.js";
import { requireCapabilities } from "../require-capabilities.js";

/** A profile that can be leased, and who makes its workers. */
export interface Leasable<P extends Maker = ManagedProvider> {
  readonly profile: ProfileTerms;
  readonly provider: P;
}

/** What is asked of a provider before it makes anything. */
type Maker = Pick<ManagedProvider, "name" | "capabilities">;

/** What the operator approved. */
export interface Catalog<P extends Maker = ManagedProvider> {
  readonly providers: ReadonlyMap<string, P>;
  readonly profiles: readonly ProfileStatus[];
  /** @throws {LeaseError} `PROFILE_UNKNOWN`, `PROFILE_INVALID`, `PROVIDER_UNKNOWN`, `CAPABILITY_MISSING` */
  find(name: string): Leasable<P>;
}

interface CatalogOptions<P> extends Pick<LeasesOptions, "profiles" | "allowUnconfined"> {
  readonly providers: readonly P[];
}

/**
 * Profiles in a table are read at once.
 * @throws {LeaseError} `PROFILE_INVALID`, or `OPTION_INVALID` for two providers of one name.
 */
export function createCatalog<P extends Maker>(options: CatalogOptions<P>): Catalog<P> {
  const { providers: given, profiles, allowUnconfined } = options;
  const providers = new Map(given.map((provider) => [provider.name, provider]));
  if (providers.size < given.length) throw new LeaseError("OPTION_INVALID", "two providers have one name");
  const read = typeof profiles === "function" ? undefined : readAll(profiles);
  const readByName = (name: string): ProfileTerms | undefined => {
    if (typeof profiles !== "function") return read?.get(name);
    const profile = profiles(name);
    return profile === undefined ? undefined : readProfile(name, profile);
  };
  const lease = (profile: ProfileTerms): Leasable<P> => {
    const provider = providers.get(profile.provider);
    if (provider === undefined) {
      throw new LeaseError("PROVIDER_UNKNOWN", `no provider ${profile.provider} is configured`, {
        cure: `Configure it, or name one of ${[...providers.keys()].join(", ")} in the profile ${profile.name}.`,
      });
    }
    requireCapabilities(provider.capabilities, profile, { allowUnconfined });
    return { profile, provider };
  };
  return {
    providers,
    profiles: Object.freeze([...(read?.values() ?? [])].map((profile) => statusOf(profile, providers, lease))),
    find(name) {
      const profile = readByName(name);
      if (profile === undefined) throw new LeaseError("PROFILE_UNKNOWN", `there is no profile ${JSON.stringify(name)}`);
      return lease(profile);
    },
  };
}

function readAll(profiles: Readonly<Record<string, unknown>>): ReadonlyMap<string, ProfileTerms> {
  return new Map(Object.entries(profiles).map(([name, profile]) => [name, readProfile(name, profile)]));
}

function statusOf(
  profile: ProfileTerms,
  providers: ReadonlyMap<string, Maker>,
  lease: (profile: ProfileTerms) => unknown,
): ProfileStatus {
  const isolated = providers.get(profile.provider)?.capabilities.isolated ?? false;
  const status = { profile: profile.name, provider: profile.provider, isolated };
  try {
    lease(profile);
    return { ...status, refusal: undefined };
  } catch (error) {
    if (!isLeaseError(error)) throw error;
    return { ...status, refusal: { message: error.message, cure: error.cure } };
  }
}
