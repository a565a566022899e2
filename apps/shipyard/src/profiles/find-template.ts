import { statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { findInterpreter, isConfinementError } from "@berth/process-confinement";

/** The interpreter that a template names, or why it names none. */
export type FoundTemplate = { readonly file: string } | { readonly refusal: string; readonly cure: string | undefined };

/** Looks where the providers look: an absolute path, or a name on PATH. */
export function findTemplate(template: string, path: string | undefined): FoundTemplate {
  const folders = template.includes("/") ? [] : (path ?? "").split(delimiter).filter(isAbsolute);
  const candidates = isAbsolute(template) ? [template] : folders.map((folder) => join(folder, template));
  const found = candidates.find(isFile);
  const cure = "apt-get install python3, or name an absolute path in profiles.NAME.template";
  if (found === undefined) return { refusal: `there is no ${template}`, cure };
  try {
    return { file: findInterpreter(found).file };
  } catch (error) {
    if (!isConfinementError(error)) throw error;
    return { refusal: error.message, cure: error.cure };
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false; // absent, or not ours to see: then it is not the one that runs
  }
}
