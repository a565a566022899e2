import { dirname } from "node:path";
import type { GuestPlaces } from "../guest/guest-host.js";

/** What every command inside has in its environment, unless the profile or the command says otherwise. Nothing of ours. */
export function standardEnv({ interpreter, workspace }: GuestPlaces): Readonly<Record<string, string>> {
  return { PATH: `${dirname(interpreter)}:/usr/local/bin:/usr/bin:/bin`, HOME: workspace, LANG: "C.UTF-8" };
}
