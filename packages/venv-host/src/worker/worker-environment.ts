const LISTED: readonly string[] = ["PATH", "HOME", "LANG", "TMPDIR", "TZ", "PLUGINS_CONFIG_FILE"];

/**
 * The whole environment of a worker: PATH, HOME, LANG, LC_*, TMPDIR, TZ and PLUGINS_CONFIG_FILE of the source, UTF-8 for its
 * pipes, and `set` over them. PYTHONUNBUFFERED is left out: what a plugin prints then comes before its answer, in one write.
 */
export function workerEnvironment(
  source: Readonly<Record<string, string | undefined>>,
  set: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const listed: Record<string, string> = {};
  for (const [name, value] of Object.entries(source)) {
    const isListed = LISTED.includes(name) || name.startsWith("LC_");
    // A shell function that bash exported is code, not a value.
    if (isListed && value !== undefined && !value.startsWith("() {")) listed[name] = value;
  }
  // A worker under another language would read names of people as something else.
  return { ...listed, PYTHONIOENCODING: "utf-8", ...set };
}
