import { posix } from "node:path";
import type { FieldFault } from "../errors.js";
import type { EnvironmentProfile, ProfileMount, ProfileTerms } from "../profile.js";
import { readMembers, shownValue } from "./members.js";
import { collectPolicy } from "./read-policy.js";
import { refuseFaults } from "./refuse.js";

const members = [
  "provider",
  "template",
  "platform",
  "policy",
  "shell",
  "mounts",
  "env",
] as const satisfies readonly (keyof EnvironmentProfile)[];
const mountMembers = ["source", "target", "writable", "maxBytes"] as const satisfies readonly (keyof ProfileMount)[];

const maxMounts = 16;
const maxPath = 4_096;
const shortName = /^[A-Za-z0-9._-]{1,64}$/;
const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** Where every provider puts the workspace. */
const workspace = "/workspace";

/**
 * Checks a profile that an operator wrote, and fills in its defaults. Paths are not looked at: they must exist when an
 * environment is created.
 * @throws {LeaseError} `PROFILE_INVALID`; `faults` names every member at fault.
 */
export function readProfile(name: string, profile: unknown): ProfileTerms {
  const faults: FieldFault[] = [];
  const terms = collectProfile(name, profile, faults);
  refuseFaults("PROFILE_INVALID", `the profile ${shownValue(name)} cannot be used`, faults);
  return terms;
}

function collectProfile(name: string, profile: unknown, faults: FieldFault[]): ProfileTerms {
  const given = readMembers(profile, "", members, faults);
  const needs = "1 to 64 letters, digits, dots, dashes, underscores";
  for (const needed of given === undefined ? [] : ["provider", "template"]) {
    if (given?.has(needed) === false) given.fault(needed, "is missing");
  }
  const mounts = given?.list("mounts", maxMounts, (mount, field) => readMount(mount, field, faults)) ?? [];
  refuseNested(mounts, faults);
  return Object.freeze({
    name,
    provider: given?.text("provider", { max: 64, fits: shortName, needs }) ?? "",
    template: given?.text("template", { max: 1_024 }) ?? "",
    platform: given?.text("platform", { max: 64, fits: shortName, needs }) ?? "linux",
    policy: collectPolicy(given?.has("policy") === true ? given.value("policy") : {}, "policy", faults),
    shell: given?.flag("shell") ?? false,
    mounts: Object.freeze(mounts),
    env: given?.texts("env", { maxCount: 256, name: variableName, maxValue: 32_768 }) ?? {},
  });
}

function readMount(mount: unknown, field: string, faults: FieldFault[]): ProfileMount | undefined {
  const before = faults.length;
  const given = readMembers(mount, field, mountMembers, faults);
  if (given === undefined) return undefined;
  for (const needed of ["source", "target"]) if (!given.has(needed)) given.fault(needed, "is missing");
  const path = { max: maxPath, fits: /^\//, needs: "an absolute path without NUL" };
  const source = given.text("source", path) ?? "";
  const target = given.text("target", path) ?? "";
  const writable = given.flag("writable");
  const maxBytes = given.whole("maxBytes", { min: 2 ** 20, max: 2 ** 40 });
  if (faults.length > before) return undefined;
  if (posix.normalize(target) !== target || target.endsWith("/")) {
    given.fault(
      "target",
      `has to be written without "." and ".." parts and doubled or final slashes, was ${shownValue(target)}`,
    );
  } else if (isWithin(target, workspace) || isWithin(workspace, target)) {
    given.fault("target", `has to be apart from ${workspace}, was ${shownValue(target)}`);
  }
  if (maxBytes !== undefined && writable !== true) given.fault("maxBytes", "is only for a writable mount");
  return faults.length > before ? undefined : Object.freeze({ source, target, writable, maxBytes });
}

/** Two at one place, or one in another, would depend on their order. */
function refuseNested(mounts: readonly ProfileMount[], faults: FieldFault[]): void {
  for (const [index, { target }] of mounts.entries()) {
    const other = mounts.find((mount, place) => place !== index && isWithin(target, mount.target));
    if (other !== undefined)
      faults.push({ field: `mounts[${index}].target`, fault: `lies within that of another: ${other.target}` });
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}
