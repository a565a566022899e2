import { isVenvHostError, VenvHostError } from "../errors.js";

/** What is known of a plugin when something of it failed. */
export interface PluginAbout {
  readonly className: string;
  /** `<cwd>/plugins`. */
  readonly pluginsFolder: string;
}

/** For `catch`: an error that a worker told, again with what it means to the plugin's author; any other error again. */
export function rethrowExplained(error: unknown, about: PluginAbout): never {
  if (!isVenvHostError(error) || error.code !== "WORKER_ERROR") throw error;
  throw new VenvHostError("WORKER_ERROR", explainFailure(error.message, about), { ...error.details, cause: error });
}

/** For `catch`: why a class could not be imported, as a hook would tell it; any other error again. */
export function rethrowNotImported(error: unknown, about: PluginAbout): never {
  if (!isVenvHostError(error) || error.details.step !== "import") throw error;
  const said = explainFailure(error.message, about);
  const module = about.className.slice(0, about.className.lastIndexOf("."));
  const message = said.startsWith("import of ") ? said : `import of \`${module}\` failed: ${said}`;
  throw new VenvHostError(error.code, message, { ...error.details, cause: error });
}

const unexpected = /^Unexpected error: /u;

/**
 * What a worker says, in the words of whoever wrote the plugin. A worker tells no kinds of errors, so that its text is all
 * there is; one that is not known stays as it is.
 */
export function explainFailure(text: string, { className, pluginsFolder }: PluginAbout): string {
  const said = text.replace(unexpected, "");
  const at = className.lastIndexOf(".");
  const [module, name] = [className.slice(0, at), className.slice(at + 1)];
  const missing = /^No module named '([^']{1,200})'/u.exec(said)?.[1];
  if (missing !== undefined) {
    const isOwn = module === missing || module.startsWith(`${missing}.`);
    const cure = isOwn
      ? `there is no ${missing} in ${pluginsFolder}, nor in its environment`
      : `it needs ${missing}, which its requirements_file does not bring`;
    return `import of \`${module}\` failed: ${said} (${cure})`;
  }
  if (/^(?:cannot import name|Plugin module |invalid syntax|unexpected indent|expected ')/u.test(said)) {
    return `import of \`${module}\` failed: ${said}`;
  }
  if (/^module '[^']{1,200}' has no attribute/u.test(said)) {
    return `import of \`${module}\` failed: it has no class \`${name}\``;
  }
  return said === "" ? text : said;
}
