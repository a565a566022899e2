import type { JsonObject } from "@berth/jsonrpc-framing";
import { isProcessPluginError } from "../../errors.js";
import type { Bench } from "../bench.js";
import { withMeta } from "../conversation/host-words.js";
import { type PluginRun, type RunKind, type RunSetting, runPlugin } from "../conversation/run-plugin.js";
import { beginScript, listTools } from "../conversation/script.js";
import { isJsonObject } from "../conversation/turn.js";
import type { Aims, PluginAttempt } from "./attempt.js";

/** What a plugin said of one thing that it tried. Nothing of it is believed where this machine can see for itself. */
export interface Said {
  readonly outcome: "refused" | "succeeded" | "unsupported" | "silent";
  /** `EPERM`, or why it said nothing. */
  readonly name: string | undefined;
  readonly sha256: string | undefined;
}

/** What was seen of one attempt in one run. */
export interface Tried {
  readonly said: readonly Said[];
  /** Whether it was seen at this machine. Undefined where that cannot be seen. */
  readonly seen: boolean | undefined;
  /** Before and after, this machine read or reached the same; undefined where that is not the point. */
  readonly hostReads: boolean | undefined;
  readonly hostReaches: boolean | undefined;
}

/** One run of a plugin with all its attempts. */
export interface Trial {
  /** It wrote a file of its own and read it back; undefined when it has no `escape_secrets`. */
  readonly ownWrite: boolean | undefined;
  readonly tried: ReadonlyMap<string, Tried>;
}

const escapeTools = ["escape_secrets", "escape_network"];
/** It need not be listed. */
const attemptTool = "escape_attempt";

/** @throws {ProcessPluginError} when the plugin does not start. */
export async function tryAttempts(
  setting: RunSetting,
  bench: Bench,
  kind: RunKind,
  attempts: readonly PluginAttempt[],
  aims: Aims,
  hostReads: () => boolean,
): Promise<Trial> {
  const run = await runPlugin(setting, await bench.dataFolder(), kind);
  try {
    const began = await beginScript(run.script);
    const tools = typeof began !== "string" && began.mcp ? await listTools(run.script) : [];
    const usable = [
      ...escapeTools.filter((tool) => tools.includes(tool)),
      ...((await hasAttempts(run)) ? [attemptTool] : []),
    ];
    const tried = new Map<string, Tried>();
    let ownWrite: boolean | undefined;
    for (const attempt of attempts) {
      if (!usable.includes(attempt.tool)) continue;
      const { answer, ...seen } = await observe(run, attempt, aims, hostReads);
      if (attempt.tool === "escape_secrets") ownWrite = didOwnWrite(answer);
      tried.set(attempt.id, { ...seen, said: saidOf(attempt, answer) });
    }
    return { ownWrite, tried };
  } finally {
    await run.end();
  }
}

/** A plugin that has it says so of an attempt that nobody knows. */
async function hasAttempts(run: PluginRun): Promise<boolean> {
  const none = { id: "", tool: attemptTool, arguments: { attempt: "no-such-attempt" } } as const;
  const answer = await callTool(run, none);
  return typeof answer !== "string" && answer["outcome"] === "unsupported";
}

type Observed = Omit<Tried, "said"> & { readonly answer: JsonObject | string };

async function observe(run: PluginRun, attempt: PluginAttempt, aims: Aims, reads: () => boolean): Promise<Observed> {
  const { seenAt } = attempt;
  const listener = seenAt === "victim" ? undefined : seenAt;
  const count = async (): Promise<number> => {
    if (seenAt === "victim") return aims.victim.signals();
    return listener === undefined ? 0 : aims.listeners.arrived(listener);
  };
  const look = async (): Promise<boolean> => (listener === undefined ? reads() : aims.listeners.reaches(listener));
  const [couldBefore, before] = [await look(), await count()];
  const answer = await callTool(run, attempt);
  const claims = typeof answer !== "string" && answer["outcome"] === "succeeded";
  if (seenAt === "victim" && claims) await aims.victim.oneMore(before);
  const [couldAfter, after] = [await look(), await count()];
  const could = couldBefore && couldAfter;
  return {
    answer,
    seen: seenAt === undefined ? undefined : after > before,
    hostReads: attempt.reads === undefined ? undefined : could,
    hostReaches: listener === undefined ? undefined : could,
  };
}

/** The object that it gave, or why there is none. */
async function callTool({ script }: PluginRun, attempt: PluginAttempt): Promise<JsonObject | string> {
  const { conversation, timeouts } = script;
  const params = withMeta({ name: attempt.tool, arguments: attempt.arguments });
  try {
    const { result, error } = await conversation.ask("tools/call", params, timeouts.callMs);
    const structured = result?.["structuredContent"];
    if (isJsonObject(structured)) return structured;
    return error === undefined ? "a result without structuredContent" : `the error ${error.code}`;
  } catch (error) {
    if (!isProcessPluginError(error)) throw error;
    return error.message;
  }
}

function didOwnWrite(answer: JsonObject | string): boolean {
  const control = typeof answer === "string" ? undefined : answer["control"];
  return isJsonObject(control) && ["wrote", "readBack", "equal"].every((key) => control[key] === true);
}

function saidOf({ tool }: PluginAttempt, answer: JsonObject | string): readonly Said[] {
  if (typeof answer === "string") return [{ outcome: "silent", name: answer, sha256: undefined }];
  const parts = tool === "escape_secrets" ? [answer["secrets"], answer["other"]] : [answer];
  return parts.map((part) =>
    isJsonObject(part) ? readSaid(part) : { outcome: "silent", name: undefined, sha256: undefined },
  );
}

function readSaid({ outcome, name, sha256 }: JsonObject): Said {
  const text = (value: unknown): string | undefined => (typeof value === "string" ? value.slice(0, 100) : undefined);
  const known = {
    refused: "refused",
    unsupported: "unsupported",
    succeeded: "succeeded",
    read: "succeeded",
    connected: "succeeded",
  };
  const found = Object.entries(known).find(([word]) => word === outcome)?.[1];
  const read = (["refused", "unsupported", "succeeded"] as const).find((word) => word === found);
  return { outcome: read ?? "silent", name: text(name), sha256: text(sha256) };
}
