import { isVenvHostError } from "@berth/venv-host";
import type { PluginKind } from "@berth/venv-host/executor";

/** Lines of the end of what an installer or a worker said. */
const maxLines = 20;

/** The same kind, which also tells, line by line, what an installer or a worker said at its end before what its error has of it. */
export function tellingOutput(kind: PluginKind): PluginKind {
  return {
    ...kind,
    open: async (entry, options) => {
      try {
        return await kind.open(entry, options);
      } catch (error) {
        for (const line of linesOf(error)) options.onProgress(`  ${line}`);
        throw error;
      }
    },
  };
}

function linesOf(error: unknown): readonly string[] {
  if (!isVenvHostError(error)) return [];
  const said = (error.details.stderrExcerpt ?? "").split("\n").filter((line) => line.trim() !== "");
  const last = said.at(-1)?.trim().slice(0, 300) ?? "";
  // A cause is said once.
  return (error.message.includes(last) ? said.slice(0, -1) : said).slice(-maxLines);
}
