import { type WritablePart, writableParts } from "./capabilities.js";

/** What one plugin may change. It says nothing of itself: only the host that minted it can read it. */
export interface WriteAuthority {
  readonly [writeAuthorityBrand]?: never;
}
declare const writeAuthorityBrand: unique symbol;

/** Mints and reads authorities; those of another host, copies and look-alikes are worth nothing. */
export interface WriteAuthorities {
  mint(capabilities: ReadonlySet<string>): WriteAuthority;
  /** Needs both the minted authority and the capability, so that neither alone, taken from elsewhere, opens anything. */
  mayWrite(authority: WriteAuthority, capabilities: ReadonlySet<string>, part: WritablePart): boolean;
}

export function createWriteAuthorities(): WriteAuthorities {
  const minted = new WeakMap<WriteAuthority, ReadonlySet<WritablePart>>();
  return {
    mint(capabilities) {
      const authority: WriteAuthority = Object.freeze({});
      minted.set(authority, writableParts(capabilities));
      return authority;
    },
    mayWrite: (authority, capabilities, part) =>
      minted.get(authority)?.has(part) === true && writableParts(capabilities).has(part),
  };
}
