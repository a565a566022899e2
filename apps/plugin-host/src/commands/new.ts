import { resolve } from "node:path";
import { exitCodes, printJson, printLine } from "@berth/command-line";
import { isProcessPluginError, newPlugin, type PluginLanguage } from "@berth/process-plugins/check";
import { AppError } from "../errors.js";

/** What the command line says. */
export interface NewFlags {
  readonly lang: PluginLanguage;
  readonly dir?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Writes a plugin that works, with its transcript. */
export async function newCommand(name: string, { lang, dir, json }: NewFlags): Promise<number> {
  const folder = resolve(dir ?? name);
  const made = await newPlugin({ language: lang, name, folder }).catch((error: unknown) => {
    if (!isProcessPluginError(error)) throw error;
    throw new AppError("USAGE", error.message, error.advice === undefined ? {} : { lines: [error.advice] });
  });
  if (json === true) printJson(made);
  else {
    for (const file of made.files) printLine(`wrote   ${file}`);
    printLine(`next    berth-plugin-host check ${dir ?? name}`);
  }
  return exitCodes.good;
}
