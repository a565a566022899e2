import { createHash } from "node:crypto";
import { lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { EnvironmentProfile } from "@berth/environment-leases";
import type { ShipyardConfig } from "../config/config.js";
import { ShipyardError } from "../errors.js";

/** Where a session finds its owner's uploads. */
export const uploadsInside = "/app/uploads";

/** The profiles of a server, and which one an owner's sessions run in. */
export interface OwnedProfiles {
  /** By name, for leases. */
  readonly find: (name: string) => EnvironmentProfile | undefined;
  /** For sessions. Makes the owner's folder when it is not there. */
  readonly of: (owner: string) => string;
}

export interface ProfileParts {
  readonly config: Pick<ShipyardConfig, "profile" | "profiles" | "provider" | "uploads">;
  /** Folder of the host. */
  readonly uploads: string;
  /** Undefined: every owner has a folder of its own below `uploads`. Else this owner has `uploads` itself. */
  readonly onlyOwner: string | undefined;
}

/**
 * One profile for each owner, because of the folder that only this owner may see. Its name says which, so that a later
 * process finds the same profile for the same lease.
 */
export function ownedProfiles({ config, uploads, onlyOwner }: ProfileParts): OwnedProfiles {
  const withUploads = (folder: string): EnvironmentProfile | undefined => {
    const profile = Object.hasOwn(config.profiles, config.profile) ? config.profiles[config.profile] : undefined;
    if (profile === undefined) return undefined;
    // Without a sandbox nothing can be shown at another place, and nothing watches what it holds.
    const shown =
      config.provider === "unconfined"
        ? { target: folder }
        : { target: uploadsInside, maxBytes: config.uploads.maxBytes };
    return { ...profile, mounts: [...(profile.mounts ?? []), { source: folder, writable: true, ...shown }] };
  };
  return {
    find: (name) => {
      const [base, owner, ...rest] = name.split("@");
      if (base !== config.profile || owner === undefined || rest.length > 0) {
        return Object.hasOwn(config.profiles, name) ? config.profiles[name] : undefined;
      }
      if (owner === "") return withUploads(uploads);
      return ownFolder.test(owner) ? withUploads(join(uploads, owner)) : undefined;
    },
    of: (owner) => {
      if (owner === onlyOwner) return `${config.profile}@`;
      const name = folderOf(owner);
      makeOwnFolder(join(uploads, name));
      return `${config.profile}@${name}`;
    },
  };
}

/** The name that the configuration gives, without what is added to it for each owner. */
export function configuredName(profile: string): string {
  return profile.split("@")[0] ?? profile;
}

/** Never through a link: code that ran before there was authentication could write where the folders lie, and plant one. */
function makeOwnFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (lstatSync(folder).isDirectory()) return;
  throw new ShipyardError("STATE_UNUSABLE", `${folder} is no folder but a link; remove it`);
}

const ownFolder = /^(?:[a-z0-9][a-z0-9._-]{0,63}|~[0-9a-f]{32})$/;

/** A principal as a folder's name: itself when it can be one, else its digest, which no name of the first kind equals. */
export function folderOf(owner: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,63}$/.test(owner)) return owner;
  return `~${createHash("sha256").update(owner).digest("hex").slice(0, 32)}`;
}
