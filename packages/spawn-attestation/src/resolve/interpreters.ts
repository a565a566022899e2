import type { InterpreterFamily } from "../measurement.js";

/** What the word after an option (or glued to it) is. */
export type ValueRole =
  /** A setting. */
  | "plain"
  /** Code that is loaded before the target: a file or a module name. */
  | "preload"
  /** Code itself: there is no target on disk. */
  | "code"
  /** A module that the interpreter looks up by name. */
  | "module"
  /** A word that runs something by a name of its own, such as a package script. */
  | "named"
  /** It changes where relative paths start, or how the target is found: the target cannot be told from argv. */
  | "elsewhere"
  /** The target itself. */
  | "target";

/** How an interpreter's command line leads to the code that it runs. */
export interface InterpreterTable {
  readonly family: InterpreterFamily;
  /** Of the file name, before or after its symlinks. */
  readonly names: RegExp;
  /** Letters that take no value and may stand together, as `-uB`. */
  readonly letters: string;
  /** Letters that take the rest of the word, else the next word. */
  readonly letterValues: Readonly<Record<string, ValueRole>>;
  /** Letters that take the rest of the word, never the next one. */
  readonly gluedLetters?: Readonly<Record<string, ValueRole>> | undefined;
  /** Words that take no value; a `--word=value` outside `values` counts as one too. */
  readonly flags: ReadonlySet<string>;
  /** Words that take `=value` or the next word. */
  readonly values: Readonly<Record<string, ValueRole>>;
  /** Words that match need no entry in `flags`. */
  readonly flagPattern?: RegExp | undefined;
  /** First words that are not a script: what follows them is (`run`), or they lead to nothing on disk. */
  readonly commands?: Readonly<Record<string, "run" | ValueRole>> | undefined;
  /** A word that is no option is a file only when it looks like this; else it is a name of the interpreter's own. */
  readonly filePattern?: RegExp | undefined;
  /** A folder may be the target. */
  readonly takesFolder?: boolean | undefined;
  /** How a shim is asked for the real program. */
  readonly ask?: readonly string[] | undefined;
  /** What a digest of the target leaves out whatever it covers. */
  readonly leavesOut: readonly string[];
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter((word) => word !== ""));
const roles = (role: ValueRole, text: string): Record<string, ValueRole> =>
  Object.fromEntries([...words(text)].map((word) => [word, role]));

/** CPython 3.13 `python --help-all`; the letters are the same in 2.7 and PyPy. */
const python: InterpreterTable = {
  family: "python",
  names: /^(?:python|pypy)(?:\d+(?:\.\d+)*)?[dtmw]*$/,
  letters: "bBdEhiIOPqRsStuvVx?",
  letterValues: { W: "plain", X: "plain", c: "code", m: "module" },
  flags: words("--help --version --help-env --help-xoptions --help-all"),
  values: { "--check-hash-based-pycs": "plain" },
  takesFolder: true,
  // -E -s -S: nothing of the environment, the user's or the site's packages runs while it is asked.
  ask: ["-E", "-s", "-S", "-c", "import sys; sys.stdout.write(sys.executable)"],
  leavesOut: ["standard-library", "site-packages"],
};

/** Node 24 `node --help`; a test holds this table against the running Node. */
const node: InterpreterTable = {
  family: "node",
  names: /^node(?:js)?(?:-?\d+)?$/,
  letters: "chiv",
  letterValues: { e: "code", p: "code", r: "preload", C: "plain" },
  flags:
    words(`--abort-on-uncaught-exception --allow-addons --allow-child-process --allow-inspector --allow-net --allow-wasi
    --allow-worker --async-context-frame --build-snapshot --check --cpu-prof --enable-etw-stack-walking --enable-fips
    --enable-network-family-autoselection --enable-source-maps --expose-gc --expose-internals --expose_gc --force-context-aware --force-fips
    --force-node-api-uncaught-exceptions-policy --frozen-intrinsics --heap-prof --help --inspect --inspect-brk
    --inspect-wait --insecure-http-parser --interactive --interpreted-frames-native-stack --jitless --node-memory-debug
    --pending-deprecation --perf-basic-prof --perf-basic-prof-only-functions --perf-prof --perf-prof-unwinding-info
    --permission --permission-audit --preserve-symlinks --preserve-symlinks-main --prof --prof-process --report-compact
    --report-exclude-env --report-exclude-network --report-on-fatalerror --report-on-signal --report-uncaught-exception
    --strip-types --test --test-force-exit --test-only --test-update-snapshots --throw-deprecation --tls-max-v1.2
    --tls-max-v1.3 --tls-min-v1.0 --tls-min-v1.1 --tls-min-v1.2 --tls-min-v1.3 --track-heap-objects --use-bundled-ca
    --use-env-proxy --use-openssl-ca --use-system-ca --v8-options --verify-base-objects --version --warnings --watch
    --watch-preserve-output --zero-fill-buffers
    --experimental-abortcontroller --experimental-addon-modules --experimental-detect-module --experimental-eventsource
    --experimental-fetch --experimental-global-customevent --experimental-global-navigator
    --experimental-global-webcrypto --experimental-import-meta-resolve --experimental-json-modules
    --experimental-modules --experimental-network-imports --experimental-print-required-tla --experimental-repl-await
    --experimental-report --experimental-require-module --experimental-shadow-realm --experimental-sqlite
    --experimental-strip-types --experimental-test-coverage --experimental-test-module-mocks
    --experimental-top-level-await --experimental-transform-types --experimental-vm-modules
    --experimental-wasi-unstable-preview1 --experimental-wasm-modules --experimental-websocket
    --experimental-webstorage --experimental-worker --trace-atomics-wait --trace-deprecation --trace-env
    --trace-env-js-stack --trace-env-native-stack --trace-events-enabled --trace-exit --trace-promises --trace-sigint
    --trace-sync-io --trace-tls --trace-uncaught --trace-warnings`),
  values: {
    ...roles("preload", "--require --import --loader --experimental-loader --env-file --env-file-if-exists"),
    ...roles("preload", "--snapshot-blob --openssl-config --experimental-config-file --experimental-package-map"),
    ...roles("code", "--eval --print -pe"),
    ...roles("named", "--run"),
    ...roles(
      "plain",
      `--icu-data-dir --experimental-test-isolation --conditions --cpu-prof-dir --cpu-prof-interval --cpu-prof-name --diagnostic-dir --disable-proto
      --disable-warning --dns-result-order --experimental-default-type --heap-prof-dir --heap-prof-interval
      --heap-prof-name --heapsnapshot-near-heap-limit --heapsnapshot-signal --input-type --inspect-port --debug-port
      --inspect-publish-uid --localstorage-file --max-http-header-size --max-heap-size --network-family-autoselection-attempt-timeout
      --redirect-warnings --report-dir --report-directory --report-filename --report-signal --secure-heap
      --secure-heap-min --stack-trace-limit --test-name-pattern --test-reporter --title --tls-cipher-list --tls-keylog
      --trace-event-categories --trace-event-file-pattern --unhandled-rejections --v8-pool-size --watch-path
      --allow-fs-read --allow-fs-write`,
    ),
    ...roles("elsewhere", "--entry-url --experimental-sea-config"),
  },
  flagPattern: /^--(?:no-.+|harmony.*)$/,
  commands: { inspect: "elsewhere" },
  ask: ["-p", "process.execPath"],
  leavesOut: [],
};

const ruby: InterpreterTable = {
  family: "ruby",
  names: /^(?:ruby|jruby|truffleruby)(?:\d+(?:\.\d+)*)?$/,
  letters: "acdhlnpsSvwy",
  letterValues: { e: "code", r: "preload", I: "preload", C: "elsewhere", E: "plain" },
  gluedLetters: { ...roles("plain", "F K W T 0 i"), x: "elsewhere" },
  flags: words(
    "--copyright --version --verbose --help --jit --yjit --rjit --disable-gems --enable-frozen-string-literal",
  ),
  values: { "--external-encoding": "plain", "--internal-encoding": "plain", "--encoding": "plain" },
  flagPattern: /^--(?:enable|disable|yjit|rjit|jit|dump|debug|backtrace-limit|crash-report|parser)[-=].+$/,
  ask: ["--disable-gems", "-e", "print RbConfig.ruby"],
  leavesOut: ["standard-library", "site-packages"],
};

const perl: InterpreterTable = {
  family: "perl",
  names: /^perl(?:5(?:\.\d+)*)?$/,
  letters: "acfghlnpsStTuUvwWX",
  letterValues: { e: "code", E: "code", M: "preload", m: "preload", I: "preload" },
  gluedLetters: { ...roles("plain", "C D F V i 0"), d: "preload", x: "elsewhere" },
  flags: words("--help --version"),
  values: {},
  ask: ["-e", "print $^X"],
  leavesOut: ["standard-library", "site-packages"],
};

const deno: InterpreterTable = {
  family: "deno",
  names: /^deno$/,
  letters: "ANqhV",
  letterValues: {},
  gluedLetters: roles("plain", "R W E S I"),
  flags: words(
    "--quiet --cached-only --no-check --no-config --no-lock --no-npm --no-remote --no-prompt --prompt --watch --check --reload --allow-all --allow-read --allow-write --allow-net --allow-env --allow-run --allow-ffi --allow-sys --allow-import --inspect --inspect-brk --inspect-wait --frozen --vendor --node-modules-dir --unstable --cached_only --lock --env-file --allow-scripts",
  ),
  values: {
    ...roles("plain", "--cert --location --seed --ext --log-level -L"),
    ...roles("preload", "--preload --import --require --config -c --import-map"),
  },
  flagPattern: /^(?:--(?:unstable|deny|no|ignore)-.+|-r)$/,
  commands: { run: "run", serve: "run", eval: "code", task: "named", x: "named", repl: "elsewhere", test: "elsewhere" },
  ask: ["eval", "--no-config", "console.log(Deno.execPath())"],
  leavesOut: ["remote-modules"],
};

const bun: InterpreterTable = {
  family: "bun",
  names: /^bun$/,
  letters: "bhi",
  letterValues: { e: "code", p: "code", r: "preload", c: "preload", d: "plain", l: "plain" },
  flags: words(
    "--bun --smol --hot --watch --silent --no-clear-screen --prefer-offline --prefer-latest --no-install --inspect --inspect-wait --inspect-brk --help --expose-gc --no-deprecation --throw-deprecation --if-present",
  ),
  values: {
    ...roles("preload", "--preload --require --import --config --env-file --tsconfig-override"),
    ...roles(
      "plain",
      "--define --loader --port --conditions --main-fields --extension-order --install --shell --title",
    ),
    ...roles("code", "--eval --print"),
    ...roles("elsewhere", "--cwd --filter"),
  },
  filePattern: /[./]/,
  commands: {
    run: "run",
    x: "named",
    create: "named",
    exec: "code",
    repl: "elsewhere",
    test: "elsewhere",
    start: "named",
  },
  ask: ["-p", "process.execPath"],
  leavesOut: ["remote-modules"],
};

const php: InterpreterTable = {
  family: "php",
  names: /^php(?:\d+(?:\.\d+)*)?$/,
  letters: "aCehilmnqsvw",
  letterValues: {
    r: "code",
    R: "code",
    B: "code",
    E: "code",
    F: "target",
    f: "target",
    d: "preload",
    c: "preload",
    z: "preload",
    S: "named",
    t: "elsewhere",
    g: "plain",
  },
  flags: words("--version --help --no-header --interactive"),
  values: { "--file": "target", "--run": "code", "--define": "preload", "--php-ini": "preload" },
  ask: ["-r", "echo PHP_BINARY;"],
  leavesOut: ["standard-library", "site-packages"],
};

const java: InterpreterTable = {
  family: "java",
  names: /^java$/,
  letters: "",
  letterValues: {},
  flags: words("-server -client -version --version -showversion --show-version -ea -esa -da -dsa --enable-preview"),
  values: {
    ...roles("target", "-jar"),
    ...roles("preload", "-cp -classpath --class-path -p --module-path --patch-module"),
    ...roles("module", "-m --module"),
    ...roles("plain", "--add-modules --add-exports --add-opens --add-reads --enable-native-access --limit-modules"),
  },
  filePattern: /\.java$/,
  flagPattern: /^-(?:X.*|D.+|ea:.+|da:.+|verbose.*|agentlib:.+|agentpath:.+|javaagent:.+)$/,
  leavesOut: ["standard-library", "site-packages"],
};

const dotnet: InterpreterTable = {
  family: "dotnet",
  names: /^dotnet$/,
  letters: "",
  letterValues: {},
  flags: words("--diagnostics"),
  values: {
    ...roles("plain", "--fx-version --roll-forward"),
    ...roles("preload", "--additional-deps --additionalprobingpath --depsfile --runtimeconfig"),
  },
  commands: { exec: "run" },
  filePattern: /\.(?:dll|exe)$/,
  leavesOut: ["standard-library", "siblings"],
};

const lua: InterpreterTable = {
  family: "lua",
  names: /^lua(?:jit|\d+(?:\.\d+)*)?$/,
  letters: "ivEW",
  letterValues: { e: "code", l: "preload" },
  flags: words(""),
  values: {},
  leavesOut: ["site-packages"],
};

const shell: InterpreterTable = {
  family: "shell",
  names: /^(?:sh|bash|dash|zsh|ksh|ash|mksh|fish)$/,
  letters: "abefhklmnprtuvxBCEHPT",
  letterValues: { c: "code", o: "plain", O: "plain", s: "elsewhere", i: "elsewhere" },
  flags: words("--login --posix --noprofile --norc --restricted --verbose --debugger --no-config"),
  values: { "--rcfile": "preload", "--init-file": "preload", "--init-command": "code", "--command": "code" },
  leavesOut: ["called-programs"],
};

export const interpreterTables: readonly InterpreterTable[] = [
  python,
  node,
  ruby,
  perl,
  deno,
  bun,
  php,
  java,
  dotnet,
  lua,
  shell,
];

/** The interpreters known by some file names, each once. */
export function tablesFor(names: readonly string[]): readonly InterpreterTable[] {
  return interpreterTables.filter((table) => names.some((name) => table.names.test(name)));
}
