import type { LaunchReport, Measurement, SpawnDescription } from "@berth/spawn-attestation";
import type { Examined } from "./examine-server.js";
import type { PinComparison, PinStatus } from "./pin-compare.js";
import { shellQuote } from "./shell-quote.js";

/** One server's part of the result. */
export interface PinResult {
  readonly name: string;
  readonly status: PinStatus;
  readonly description?: SpawnDescription | undefined;
  readonly environmentNames?: readonly string[] | undefined;
  readonly examined?: Examined | undefined;
  readonly comparison?: PinComparison | undefined;
  /** Why it could not be measured or started. */
  readonly error?:
    | { readonly reason: string; readonly message: string; readonly advice?: string | undefined }
    | undefined;
}

/** The servers of the result for programs; the keys are in the README. */
export function pinnedForPrograms(results: readonly PinResult[]): Readonly<Record<string, unknown>> {
  const servers = results.map(({ name, status, examined, comparison, error }) => {
    if (examined === undefined || comparison === undefined) return [name, { status, error }];
    const { digest, target, interpreter, coverage } = examined.launch.measurement;
    return [
      name,
      {
        status,
        digest,
        target: target.path,
        interpreter:
          interpreter === undefined
            ? null
            : { path: interpreter.path, kind: interpreter.kind, digest: interpreter.digest },
        coverage: coverage.scope,
        leavesOut: coverage.leavesOut,
        tools: comparison.tools,
        changes: comparison.changes,
      },
    ];
  });
  return Object.fromEntries(servers);
}

/** What is about to be trusted, as lines for a person, to be printed with `printLine`, which lets nothing hide in them. */
export function linesForPeople(result: PinResult): string[] {
  const { name, status, description, environmentNames = [], examined, comparison, error } = result;
  if (examined === undefined || comparison === undefined) {
    const advice = error?.advice === undefined ? [] : [`    ${error.advice}`];
    return [`${name}: ${status}`, `    ${error?.reason ?? ""}: ${error?.message ?? ""}`, ...advice];
  }
  const { launch, inspection } = examined;
  const { measurement } = launch;
  const row = (label: string, value: string): string => `    ${label.padEnd(12)} ${value}`;
  return [
    `${name}: ${status}`,
    ...(description === undefined ? [] : [row("runs", shellQuote([description.command, ...description.args]))]),
    row("target", measurement.target.path),
    row("package", originText(launch.origin)),
    row("covers", coverageText(measurement)),
    ...measurement.coverage.leavesOut.map((left) => row("leaves out", left)),
    row("digest", measurement.digest),
    ...(measurement.interpreter === undefined ? [] : [row("interpreter", interpreterText(measurement.interpreter))]),
    row(
      "variables",
      environmentNames.length === 0 ? "the safe list only" : `the safe list, ${environmentNames.join(", ")}`,
    ),
    ...measurement.warnings.map((warning) => row("note", warning)),
    ...launch.offers.map(({ members, why }) =>
      row("better", `${shellQuote([members.command, ...(members.args ?? [])])}: ${why}`),
    ),
    ...inspection.problems.map((problem) => row("problem", String(problem))),
    row(
      "offers",
      [
        counted(inspection.tools.length, "tool"),
        counted(inspection.prompts.length, "prompt"),
        counted(inspection.resourceTemplates.length, "resource template"),
      ].join(", "),
    ),
    ...effectRows(comparison, row),
    ...(comparison.changes.length === 0
      ? []
      : ["    what changed", ...comparison.changes.map((line) => `      ${line}`)]),
  ];
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function originText(origin: LaunchReport["origin"]): string {
  if (origin === undefined) return "none is named";
  const publisher = origin.publisher === undefined ? "publisher not named" : `by ${origin.publisher}`;
  return `${origin.name} ${origin.version ?? "without version"}, ${publisher} (its own word)`;
}

function coverageText({ coverage, files, bytes, guard }: Measurement): string {
  const ignored = coverage.ignore.length === 0 ? "" : `, without ${coverage.ignore.join(", ")}`;
  const what =
    coverage.scope === "tree" ? `the folder ${coverage.root} (${files} files, ${bytes} bytes${ignored})` : `one file`;
  return `${what}, guard ${guard}`;
}

function interpreterText({ path, kind, realPath }: NonNullable<Measurement["interpreter"]>): string {
  if (kind === "shim") return `${path}, a stand-in for ${realPath}`;
  return path === realPath ? path : `${path} (${realPath})`;
}

/** What changes something stands first. */
const effects = [
  { effect: "deletes", label: "deletes" },
  { effect: "writes", label: "writes" },
  { effect: "unknown", label: "other tools" },
  { effect: "reads", label: "reads" },
] as const;

function effectRows({ tools }: PinComparison, row: (label: string, value: string) => string): string[] {
  return effects.flatMap(({ effect, label }) => {
    const names = tools.filter((tool) => tool.effect === effect).map(({ name }) => name);
    return names.length === 0 ? [] : [row(label, names.join(", "))];
  });
}
