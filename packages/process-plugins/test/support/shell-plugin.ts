import { manifestText, pluginFolder, type TestFile } from "./plugin-folder.js";

/**
 * A plugin in POSIX shell. It notes each start in its data folder, and takes the hook `tool_pre_invoke`, whose payload may say what it
 * is to do: `crash`, or `wrong`, which breaks the protocol.
 */
export function shellPlugin(name = "smoke", changes: ShellPluginChanges = {}): string {
  const { onCreate = "", hooks = '"tool_pre_invoke"', files = {} } = changes;
  const text = `echo $$ >>"$PLUGIN_DATA/starts"
while IFS= read -r line; do
  id=\${line#*'"id":'}; id=\${id%%[!0-9]*}
  case $line in
    *'"ave/instance/create"'*) ${onCreate}
      r='{"protocol":1,"plugin":{"name":"${name}","version":"1.0.0"},"capabilities":{"mcp":true,"health":true,"hooks":[${hooks}]}}' ;;
    *'"ave/instance/start"'*) r='{"status":"running"}' ;;
    *'"ave/instance/health"'*) r='{"status":"degraded","detail":"as always"}' ;;
    *'"crash"'*) exit 9 ;;
    *'"wrong"'*) r='}' ;;
    *'"ave/hook/invoke"'*) r='{"continue_processing":true}' ;;
    *) r='{}' ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$r"
  case $line in *'"ave/instance/destroy"'*) exit 0 ;; esac
done`;
  return pluginFolder(text, { "plugin.json": manifestText({ name }), ...files });
}

/** What may be another one. */
export interface ShellPluginChanges {
  /** Commands that run before `create` is answered. */
  readonly onCreate?: string;
  /** JSON texts, with commas between them. */
  readonly hooks?: string;
  readonly files?: Readonly<Record<string, TestFile>>;
}
