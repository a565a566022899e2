import type { InterpreterFamily } from "../measurement.js";

/** Variables that make a program load code from where they say. `any` is for every dynamically linked program. */
const codeLoading: Readonly<Partial<Record<InterpreterFamily | "any", readonly string[]>>> = {
  any: ["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "GCONV_PATH"],
  python: [
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PYTHONUSERBASE",
    "PYTHONPLATLIBDIR",
    "PYTHONEXECUTABLE",
    "PYTHONBREAKPOINT",
  ],
  node: [
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_COMPILE_CACHE",
    "NODE_REPL_EXTERNAL_MODULE",
    "OPENSSL_CONF",
    "OPENSSL_MODULES",
  ],
  bun: ["BUN_OPTIONS", "NODE_PATH", "BUN_INSPECT_PRELOAD", "BUN_INSTALL"],
  deno: ["DENO_DIR", "NODE_PATH", "DENO_COVERAGE_DIR"],
  ruby: ["RUBYOPT", "RUBYLIB", "GEM_HOME", "GEM_PATH", "BUNDLE_GEMFILE"],
  perl: ["PERL5OPT", "PERL5LIB", "PERLLIB", "PERL5DB"],
  php: ["PHPRC", "PHP_INI_SCAN_DIR"],
  java: ["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH"],
  dotnet: ["DOTNET_STARTUP_HOOKS", "DOTNET_ADDITIONAL_DEPS", "DOTNET_SHARED_STORE", "CORECLR_PROFILER_PATH"],
  lua: ["LUA_PATH", "LUA_CPATH", "LUA_INIT"],
  shell: ["BASH_ENV", "ENV", "ZDOTDIR", "BASHOPTS", "SHELLOPTS"],
};

/** The names in an environment that make this kind of program load code, which no digest of the target covers. */
export function codeLoadingNames(env: Readonly<Record<string, string>>, family: InterpreterFamily): readonly string[] {
  return [...(codeLoading.any ?? []), ...(codeLoading[family] ?? [])].filter((name) => Object.hasOwn(env, name));
}

/** The environment without what would load code: for asking a shim, which is to run as little as possible. */
export function withoutCodeLoading(env: Readonly<Record<string, string>>): Record<string, string> {
  const names = new Set(Object.values(codeLoading).flat());
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.has(name)));
}

/** What is set for the child so that it runs its sources, not a compiled copy that somebody else may have written. */
export function cacheVariables(
  family: InterpreterFamily | undefined,
  env: Readonly<Record<string, string>>,
  pythonPrefix: string,
): Readonly<Record<string, string>> {
  if (family === "python") return { PYTHONDONTWRITEBYTECODE: "1", PYTHONPYCACHEPREFIX: pythonPrefix };
  // Node's compile cache lies in the shared temporary folder unless the caller chose one, which the coverage then names.
  if (family === "node" && !Object.hasOwn(env, "NODE_COMPILE_CACHE")) return { NODE_DISABLE_COMPILE_CACHE: "1" };
  return {};
}
