import type { IndexPolicy } from "@berth/venv-host";

/** `plugins` of gateway.yaml, with absolute paths. */
export interface PluginSettings {
  /** A plugins.yaml. */
  readonly file: string;
  /** The folder whose `plugins` holds the plugins' code. */
  readonly cwd: string;
  readonly installer: "auto" | "uv" | "pip";
  readonly index: IndexPolicy;
  readonly requireHashes: boolean;
  readonly onlyWheels: boolean;
  /**
   * What installers run has no network, and writes its own environment only. True: or nothing is installed; false: not so;
   * undefined: where it holds, with a folder of wheels.
   */
  readonly confineInstalls?: boolean | undefined;
}

/** As it stands in the file: paths are relative to its folder. */
export interface GivenPluginSettings {
  readonly file: string;
  readonly cwd?: string | undefined;
  readonly installer: "auto" | "uv" | "pip";
  readonly index?: string | undefined;
  readonly wheels?: readonly string[] | undefined;
  readonly requireHashes: boolean;
  readonly onlyWheels: boolean;
  readonly confineInstalls?: boolean | undefined;
}
