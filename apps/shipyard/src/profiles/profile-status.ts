import { existsSync } from "node:fs";
import {
  isLeaseError,
  type ManagedProvider,
  type ProfileStatus,
  readProfile,
  requireCapabilities,
} from "@berth/environment-leases";
import type { ShipyardConfig } from "../config/config.js";
import { ShipyardError } from "../errors.js";
import { findTemplate } from "./find-template.js";

/** Which profiles of the configuration this machine can hold, and why not the others. */
export function profileStatuses(
  config: Pick<ShipyardConfig, "profiles" | "provider">,
  providers: readonly ManagedProvider[],
): readonly ProfileStatus[] {
  return Object.entries(config.profiles).map(([name, given]) => {
    const provider = providers.find((one) => one.name === given.provider);
    const isolated = provider?.capabilities.isolated === true;
    const status = { profile: name, provider: given.provider, isolated, refusal: undefined };
    if (provider === undefined) {
      const message = `there is no provider ${given.provider} on this machine`;
      return { ...status, refusal: { message, cure: undefined } };
    }
    const template = findTemplate(given.template, process.env["PATH"]);
    if ("refusal" in template) return { ...status, refusal: { message: template.refusal, cure: template.cure } };
    const absent = given.mounts?.find(({ source }) => !existsSync(source));
    if (absent !== undefined) return { ...status, refusal: { message: `there is no ${absent.source}`, cure: makeIt } };
    try {
      const allowUnconfined = config.provider === "unconfined";
      requireCapabilities(provider.capabilities, readProfile(name, given), { allowUnconfined });
      return status;
    } catch (error) {
      if (!isLeaseError(error)) throw error;
      return { ...status, refusal: { message: error.message, cure: error.cure } };
    }
  });
}

const makeIt = "make it, or correct the source in profiles.NAME.mounts";

/** What is always another way. */
export function askForLess(profile: string): string {
  return `or write a profile into shipyard.yaml that asks for less: profiles: { ${profile}: { policy: { limits: { processes: 256 } } } }`;
}

/**
 * A server whose sessions could never start does not start itself.
 * @throws {ShipyardError} `NO_SANDBOX`
 */
export function requireProfile(name: string, statuses: readonly ProfileStatus[]): void {
  const refusal = statuses.find(({ profile }) => profile === name)?.refusal;
  if (refusal === undefined) return;
  throw new ShipyardError("NO_SANDBOX", `the profile ${name} cannot be held on this machine: ${refusal.message}`, {
    lines: [...(refusal.cure === undefined ? [] : [refusal.cure]), askForLess(name)],
  });
}
