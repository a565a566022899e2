/** Most hooks that a plugin may name. */
const maxHooks = 64;
const hookName = /^[A-Za-z][A-Za-z0-9_.-]{0,127}$/;

/** What is wrong with the hooks that a plugin names at `create`, as the end of a sentence. None are named by leaving them out. */
export function hooksFault(hooks: unknown): string | undefined {
  if (hooks === undefined) return undefined;
  if (!Array.isArray(hooks)) return "that is no array";
  if (hooks.length > maxHooks) return `of ${hooks.length} names; at most ${maxHooks}`;
  const seen = new Set<unknown>();
  for (const [index, name] of hooks.entries()) {
    if (typeof name !== "string" || !hookName.test(name)) return `whose [${index}] is no plain name`;
    if (seen.has(name)) return `that names ${name} twice`;
    seen.add(name);
  }
  return undefined;
}

/** Whether a plugin may name these. */
export function areHookNames(hooks: unknown): hooks is readonly string[] {
  return hooks !== undefined && hooksFault(hooks) === undefined;
}
