import type { FieldFault } from "../errors.js";
import { collectGuestLimits, type GuestBounds, type GuestLimits } from "../guest/guest-limits.js";
import { readMembers } from "../reading/members.js";
import { refuseFaults } from "../reading/refuse.js";

/** What providers of real workers take alike, with defaults filled in. */
export interface ProviderTerms {
  readonly name: string;
  readonly bounds: GuestBounds;
}

interface GivenOptions {
  readonly name?: string | undefined;
  readonly limits?: GuestLimits | undefined;
}

const nameForm = { max: 64, fits: /^[A-Za-z0-9._-]+$/, needs: "1 to 64 letters, digits, dots, dashes, underscores" };

/** @throws {LeaseError} `OPTION_INVALID`, naming every member at fault. */
export function readProviderOptions(
  options: GivenOptions,
  { known, usualName }: { readonly known: readonly string[]; readonly usualName: string },
): ProviderTerms {
  const faults: FieldFault[] = [];
  const given = readMembers(options, "", known, faults);
  const name = given?.text("name", nameForm) ?? usualName;
  const bounds = collectGuestLimits(options.limits ?? {}, faults);
  refuseFaults("OPTION_INVALID", "the options of the provider cannot be used", faults);
  return { name, bounds };
}
