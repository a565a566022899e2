import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import {
  type Chain,
  type ChainOptions,
  type Entry,
  type EntryInput,
  openChain,
  type ReadOptions,
  readChain,
} from "../src/index.js";

/** For tests whose counts are scaled: their time depends on how busy the machine is, and only a hang is a failure. */
export const scaledTest: { readonly timeout: number } = {
  timeout: process.env["BERTH_SOAK"] === "1" ? 3_600_000 : 300_000,
};

const made: string[] = [];

/**
 * Removes what the test has made so far. Tests that make folders by the thousand call it after each round: all at once,
 * at the end, it takes longer than a hook may.
 */
export function clearScratch(): void {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
}

afterEach(clearScratch);

/** A fresh folder that is gone after the test. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-chain-"));
  made.push(folder);
  return folder;
}

/** A clock that shows one time, a millisecond more at each look. */
export function tickingClock(start = Date.parse("2026-01-02T03:04:05.000Z")): () => number {
  let time = start;
  return () => time++;
}

/** The clock of logs whose times do not matter: it only goes forward, also when a log is opened again. */
const commonClock = tickingClock();

/** A log's folder inside a fresh one, with the id `log`. */
export const logFolder = (): string => join(scratch(), "log");

export function open(directory: string, options: Partial<ChainOptions> = {}): Promise<Chain> {
  return openChain({ directory, now: commonClock, ...options });
}

/** A closed log with these entries. */
export async function writeLog(entries: readonly EntryInput[], options: Partial<ChainOptions> = {}): Promise<string> {
  const directory = options.directory ?? logFolder();
  const chain = await open(directory, options);
  await Promise.all(entries.map((entry) => chain.append(entry)));
  await chain.close();
  return directory;
}

/** Entries of one session with a call in it, and as many notes between. */
export function sessionEntries(notes: number): EntryInput[] {
  const between = Array.from({ length: notes }, (_, index) => ({
    type: "note",
    session: "s1",
    index,
    text: `note ${index}`,
  }));
  return [
    { type: "session.open", session: "s1" },
    { type: "call.intent", session: "s1", tool: "echo", requestBytes: 12 },
    ...between,
    { type: "call.outcome", session: "s1", intent: 2, responseBytes: 34 },
    { type: "session.close", session: "s1" },
  ];
}

export const segmentsOf = (directory: string): string[] =>
  readdirSync(directory)
    .filter((name) => name.endsWith(".jsonl"))
    .sort();

/** Lines of one segment, without their line feeds. */
export function linesOf(directory: string, segment = 0): string[] {
  return readFileSync(join(directory, segmentsOf(directory)[segment] ?? ""), "utf8")
    .split("\n")
    .slice(0, -1);
}

/** Changes the bytes of a segment. */
export function rewrite(directory: string, change: (bytes: Buffer) => Uint8Array, segment = 0): void {
  const path = join(directory, segmentsOf(directory)[segment] ?? "");
  writeFileSync(path, change(readFileSync(path)));
}

/** The rejection of a promise; an error when there is none. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const settled = await promise.then(
    () => ({ rejected: false, reason: undefined }),
    (reason: unknown) => ({ rejected: true, reason }),
  );
  if (!settled.rejected) throw new Error("the promise was not rejected");
  return settled.reason;
}

/** All that readChain gives. */
export async function entriesOf(directory: string, options: ReadOptions = {}): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of readChain(directory, options)) entries.push(entry);
  return entries;
}
