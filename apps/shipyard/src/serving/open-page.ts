import { fileURLToPath } from "node:url";
import type { Closers } from "@berth/command-line";
import type { ProfileStatus } from "@berth/environment-leases";
import type { ShipyardConfig } from "../config/config.js";
import { machineChecks } from "../doctor/machine.js";
import { createMachineReport } from "../doctor/machine-report.js";
import { probeMachine } from "../doctor/probe-machine.js";
import { type DoorsParts, localPrincipal } from "../http/parts.js";
import { uploadsInside } from "../profiles/profiles.js";

/** What the page is given, and nothing where nobody may use it. A look at the machine that is under way is waited for at the end. */
export function openPage(
  config: ShipyardConfig,
  profiles: readonly ProfileStatus[],
  closers: Closers,
  signal: AbortSignal,
): Pick<DoorsParts, "page" | "pageFolder"> {
  const principals = pagePrincipals(config);
  if (principals.length === 0) return {};
  const look = async () => machineChecks(await probeMachine(config, { limits: "all", signal }), config);
  const report = createMachineReport(look, Date.now);
  closers.add("machine report", () => report.close());
  const isolated = config.provider === "bubblewrap";
  return {
    pageFolder: fileURLToPath(new URL("page/", import.meta.url)),
    page: {
      mayUse: (principal) => principals.includes(principal),
      provider: config.provider,
      isolated,
      uploads: isolated ? uploadsInside : undefined,
      profiles,
      machine: report.findings,
    },
  };
}

/** Without authentication there is nobody but `local`, whoever else is named. */
function pagePrincipals({ page, auth }: Pick<ShipyardConfig, "page" | "auth">): readonly string[] {
  if (auth !== undefined) return page.principals ?? auth.operators;
  return (page.principals ?? [localPrincipal]).filter((name) => name === localPrincipal);
}
