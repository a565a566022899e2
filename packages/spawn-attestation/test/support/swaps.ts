import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** A way to put other bytes in the place of a file, and to take them away again. */
export interface Swap {
  readonly name: string;
  /** Needs a folder that is not the top of the test's own. */
  act(file: string, evil: string): void;
  undo(file: string): void;
}

export const swaps: readonly Swap[] = [
  {
    name: "written in place",
    act: (file, evil) => {
      cpSync(file, `${file}.kept`);
      writeFileSync(file, evil);
    },
    undo: (file) => {
      writeFileSync(file, readFileSync(`${file}.kept`));
      rmSync(`${file}.kept`);
    },
  },
  {
    name: "replaced by a rename",
    act: (file, evil) => {
      renameSync(file, `${file}.kept`);
      writeFileSync(file, evil);
    },
    undo: (file) => renameSync(`${file}.kept`, file),
  },
  folderSwap("in another folder of the same name", 1),
  folderSwap("in another tree of the same name", 3),
];

function folderSwap(name: string, levels: number): Swap {
  const folderOf = (file: string): string =>
    Array.from({ length: levels }).reduce<string>((path) => dirname(path), file);
  return {
    name,
    act: (file, evil) => {
      const folder = folderOf(file);
      cpSync(folder, `${folder}.evil`, { recursive: true, verbatimSymlinks: true });
      writeFileSync(file.replace(folder, `${folder}.evil`), evil);
      renameSync(folder, `${folder}.kept`);
      renameSync(`${folder}.evil`, folder);
    },
    undo: (file) => {
      const folder = folderOf(file);
      rmSync(folder, { recursive: true });
      renameSync(`${folder}.kept`, folder);
    },
  };
}

/** The same bytes, and before them code that leaves a trace. */
export function leavingTrace(file: string, trace: string): string {
  const bytes = readFileSync(file, "utf8");
  const text = JSON.stringify(trace);
  if (file.endsWith(".py")) return `open(${text}, "w").close()\n${bytes}`;
  const act = `await (await import("node:fs")).promises.writeFile(${text}, "");`;
  const isModule = /^(?:import|export) /m.test(bytes);
  const [first = "", ...rest] = bytes.startsWith("#!") ? bytes.split("\n") : ["", bytes];
  return [first, isModule ? act : `require("node:fs").writeFileSync(${text}, "");`, ...rest].join("\n");
}

export function leftTrace(trace: string): boolean {
  return existsSync(trace);
}
