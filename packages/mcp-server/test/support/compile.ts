import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const folder = fileURLToPath(new URL("../", import.meta.url));

/** How a user may have set up TypeScript; always strict, and with the declarations of libraries checked as well. */
export interface Setup {
  readonly resolution: "nodenext" | "bundler";
  readonly exactOptionalPropertyTypes: boolean;
}

/**
 * What the compiler says of these texts, as modules in `test`, against what is built. Names in `ambient` are declared for all of them.
 * Each fault begins with the name of its text.
 */
export function compile(texts: ReadonlyMap<string, string>, setup: Setup, ambient = ""): readonly string[] {
  const isNode = setup.resolution === "nodenext";
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: setup.exactOptionalPropertyTypes,
    skipLibCheck: false,
    target: ts.ScriptTarget.ES2022,
    lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
    module: isNode ? ts.ModuleKind.NodeNext : ts.ModuleKind.ESNext,
    moduleResolution: isNode ? ts.ModuleResolutionKind.NodeNext : ts.ModuleResolutionKind.Bundler,
    moduleDetection: ts.ModuleDetectionKind.Force,
    types: ["node"],
  };
  const given = new Map([...texts].map(([name, text]) => [join(folder, name), text]));
  if (ambient !== "") given.set(join(folder, "ambient.ts"), ambient);
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (name) => given.has(name) || fileExists(name);
  host.readFile = (name) => given.get(name) ?? readFile(name);
  host.getSourceFile = (name, languageOptions, ...rest) => {
    const text = given.get(name);
    return text === undefined
      ? getSourceFile(name, languageOptions, ...rest)
      : ts.createSourceFile(name, text, languageOptions, true);
  };
  const program = ts.createProgram([...given.keys()], options, host);
  return ts.getPreEmitDiagnostics(program).map(tell);
}

function tell({ file, start, messageText }: ts.Diagnostic): string {
  const text = ts.flattenDiagnosticMessageText(messageText, "\n");
  if (file === undefined || start === undefined) return text;
  const { line } = file.getLineAndCharacterOfPosition(start);
  const name =
    dirname(file.fileName) === dirname(join(folder, "x")) ? file.fileName.slice(folder.length) : file.fileName;
  return `${name}:${line + 1} ${text}`;
}
