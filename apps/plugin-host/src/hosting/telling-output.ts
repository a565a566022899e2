import { isVenvHostError } from "@berth/venv-host";
import type { PluginKind } from "@berth/venv-host/executor";

/** Lines of the end of what an installer or a worker said. */
const maxLines = 20;

/** The same kind, which also tells, line by line, what an installer or a worker said at its end: an error has its last line only. */
export function tellingOutput(kind: PluginKind): PluginKind {
  return {
    ...kind,
    open: async (entry, options) => {
      try {
        return await kind.open(entry, options);
      } catch (error) {
        const said = isVenvHostError(error) ? (error.details.stderrExcerpt ?? "") : "";
        const lines = said.split("\n").filter((line) => line.trim() !== "");
        if (lines.length > 1) for (const line of lines.slice(-maxLines)) options.onProgress(`  ${line}`);
        throw error;
      }
    },
  };
}
