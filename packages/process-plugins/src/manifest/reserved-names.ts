/** What the host sets itself, and ways to load code or lead traffic from outside of what was measured (PROTOCOL.md § 2). */
const names: ReadonlySet<string> = new Set([
  ...["HOME", "TMPDIR", "PATH", "LANG", "LC_ALL", "TZ"],
  ...["PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONUSERBASE"],
  ...["NODE_OPTIONS", "NODE_PATH", "NODE_EXTRA_CA_CERTS", "PERL5LIB", "PERL5OPT", "RUBYOPT", "RUBYLIB"],
  ...["JAVA_TOOL_OPTIONS", "CLASSPATH", "BASH_ENV", "ENV", "IFS", "SHELLOPTS", "PROMPT_COMMAND", "SSL_CERT_FILE"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY", "RSYNC_PROXY"],
]);

const prefixes: readonly string[] = ["AVE_", "PLUGIN_", "LD_", "DYLD_", "MALLOC_", "GCONV_"];

/** Whether a manifest may not set this variable. Names are compared without case: some programs read a second spelling. */
export function isReserved(name: string): boolean {
  const upper = name.toUpperCase();
  return names.has(upper) || prefixes.some((prefix) => upper.startsWith(prefix));
}
