import type { PluginManifest } from "../manifest/manifest.js";

/** What the environment of a plugin is made of; both folders as the process sees them. */
export interface EnvironmentParts {
  readonly manifest: PluginManifest;
  readonly root: string;
  readonly dataFolder: string;
}

/** The folders in the data folder that are made before each start. */
export const dataFolders = { home: "home", tmp: "tmp" } as const;

/** The whole environment of a plugin (PROTOCOL.md § 2). Pure. */
export function pluginEnvironment({ manifest, root, dataFolder }: EnvironmentParts): Readonly<Record<string, string>> {
  return {
    ...manifest.process.env,
    PLUGIN_ROOT: root,
    PLUGIN_DATA: dataFolder,
    PLUGIN_NAME: manifest.name,
    AVE_PROTOCOL: String(manifest.protocol),
    HOME: `${dataFolder}/${dataFolders.home}`,
    TMPDIR: `${dataFolder}/${dataFolders.tmp}`,
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    LANG: "C.UTF-8",
    LC_ALL: "C.UTF-8",
    TZ: "UTC",
  };
}
