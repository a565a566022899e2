import { basename, isAbsolute } from "node:path";
import type { ApprovedWheel } from "../../environment.js";
import type { FieldFault } from "../../errors.js";

const maxWheels = 64;
const maxNameBytes = 255;

/** distribution-version(-build)?-python-abi-platform.whl (Binary distribution format, § File name convention). */
const wheelName =
  /^[A-Za-z0-9](?:[A-Za-z0-9._]*[A-Za-z0-9])?-[A-Za-z0-9_.!+]+(?:-\d[A-Za-z0-9_.]*)?(?:-[A-Za-z0-9_.]+){3}\.whl$/;

/** Whether a file name is one of a wheel, and so no option, path or requirement for the installer. */
export function isWheelName(name: string): boolean {
  return name.length <= maxNameBytes && wheelName.test(name);
}

/** What is wrong with a list of approved wheels, before any file is looked at. */
export function wheelFaults(wheels: readonly ApprovedWheel[]): readonly FieldFault[] {
  if (!Array.isArray(wheels) || wheels.length < 1 || wheels.length > maxWheels) {
    return [{ field: "wheels", fault: `must be a list of 1 to ${maxWheels} wheels` }];
  }
  const names = wheels.map(({ path }) => basename(String(path)));
  return wheels.flatMap(({ path, sha256 }, at) => [
    ...(typeof path === "string" && isAbsolute(path)
      ? []
      : [{ field: `wheels[${at}].path`, fault: "must be an absolute path" }]),
    ...(isWheelName(names[at] ?? "")
      ? []
      : [
          {
            field: `wheels[${at}].path`,
            fault: "must end in a wheel's file name: name-version-python-abi-platform.whl",
          },
        ]),
    ...(names.indexOf(names[at] ?? "") === at
      ? []
      : [{ field: `wheels[${at}].path`, fault: "has the file name of another one" }]),
    ...(typeof sha256 === "string" && /^[0-9a-f]{64}$/i.test(sha256)
      ? []
      : [{ field: `wheels[${at}].sha256`, fault: "must be 64 hexadecimal digits" }]),
  ]);
}
