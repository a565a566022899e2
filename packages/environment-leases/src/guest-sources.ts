import { fileURLToPath } from "node:url";

/** The folder of the agent's sources. This file lies directly in `src` and in `dist`, which are equally far from it. */
export const guestSources: string = fileURLToPath(new URL("../python/guest", import.meta.url));
