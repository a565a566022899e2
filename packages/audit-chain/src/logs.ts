import type { Head } from "./entry.js";
import type { Notice, Problem, VerifyReport } from "./report.js";

/** One log of a folder that holds many. */
export interface LogPlace {
  /** Name of its folder, which is also the id that its segments bear. */
  readonly id: string;
  readonly directory: string;
  /** When it was begun, as its first segment says; null where that cannot be read. */
  readonly begun: string | null;
}

/** How to verify a log in a folder. */
export interface VerifyLogOptions {
  /** Re-check that each entry is in canonical form, which also finds duplicate keys. Default false. */
  readonly strict?: boolean | undefined;
  /** The id that the log must bear; absent: any. */
  readonly logId?: string | undefined;
  /** Problems and notices to list, each: 1 to 10,000. Default 100. The counts go on. */
  readonly maxFindings?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One log's line in a `FolderReport`. */
export interface LogReport {
  readonly id: string;
  readonly entries: number;
  readonly head: VerifyReport["head"];
  readonly ok: boolean;
}

/** What `verifyLogs` found, over all logs of a folder. */
export interface FolderReport {
  /** Whether every log is. */
  readonly ok: boolean;
  /** Over all logs. */
  readonly entries: number;
  /** Of the log whose last entry is the newest by its writer's clock. */
  readonly head: (Head & { readonly time: string }) | null;
  /** Each with the id of its log. */
  readonly problems: readonly (Problem & { readonly log: string })[];
  readonly problemCount: number;
  readonly notices: readonly (Notice & { readonly log: string })[];
  readonly noticeCount: number;
  /** Oldest first. */
  readonly logs: readonly LogReport[];
}

/** The logs in a folder, oldest first. What is not a log's folder is passed over. */
export async function listLogs(_folder: string): Promise<readonly LogPlace[]> {
  throw new Error("not built yet");
}

/**
 * Verifies one log's folder, also while its writer is live (it then ends at the last whole line). Takes no lock.
 * @throws {ChainError} `READ_FAILED` when the folder cannot be read. What is wrong with the log is in the report.
 */
export async function verifyLog(_directory: string, _options: VerifyLogOptions = {}): Promise<VerifyReport> {
  throw new Error("not built yet");
}

/** Verifies every log of a folder, each under the id that its own folder's name says. */
export async function verifyLogs(_folder: string, _options: VerifyLogOptions = {}): Promise<FolderReport> {
  throw new Error("not built yet");
}
