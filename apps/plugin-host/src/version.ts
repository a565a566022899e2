import manifest from "../package.json" with { type: "json" };

/** As published. */
export const version: string = manifest.version;
