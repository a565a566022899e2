/** What a tool says, or its name suggests, about what it changes. */
export type ToolEffect = "reads" | "writes" | "deletes" | "unknown";

/** Verbs that tools use; whole words of the name, so that `recreate_list` and `preview` are not misread. */
const deletingWords = new Set([
  "delete",
  "remove",
  "drop",
  "destroy",
  "purge",
  "erase",
  "kill",
  "terminate",
  "clear",
  "wipe",
  "unlink",
]);
const writingWords = new Set(
  (
    "write create update edit modify set put post patch move rename copy upload insert add append save store push commit merge " +
    "send publish execute exec run eval apply install deploy start stop restart grant revoke toggle"
  ).split(" "),
);

/**
 * Whether a tool writes or deletes: by its annotations where it has any (a server's own word, which is why it is shown and
 * never decided on), else by its name. `definition` is the tool's JSON text.
 */
export function toolEffect(name: string, definition: string): ToolEffect {
  const { readOnlyHint, destructiveHint } = annotationsOf(definition);
  if (readOnlyHint === true) return "reads";
  const byName = effectOfName(name);
  if (destructiveHint === true) return "deletes";
  if (readOnlyHint === false || destructiveHint === false) return byName === "deletes" ? "deletes" : "writes";
  return byName;
}

function effectOfName(name: string): ToolEffect {
  const words = name
    .replace(/([a-z0-9])([A-Z])/gu, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/u);
  if (words.some((word) => deletingWords.has(word))) return "deletes";
  return words.some((word) => writingWords.has(word)) ? "writes" : "unknown";
}

function annotationsOf(definition: string): { readonly readOnlyHint?: unknown; readonly destructiveHint?: unknown } {
  const tool: unknown = JSON.parse(definition);
  if (typeof tool !== "object" || tool === null || !("annotations" in tool)) return {};
  const { annotations } = tool;
  return typeof annotations === "object" && annotations !== null ? annotations : {};
}
