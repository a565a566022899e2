import type { CatalogServer } from "../catalog.js";
import type { DocumentProblem } from "../catalog-document.js";

/** The forms that `importClientConfig` recognises. */
export type ClientForm = "mcpServers" | "vscode" | "zed" | "codex" | "tool-list";

/** Why something of a client's file is not, or not quite, in the catalog. */
export type ImportNoteCode =
  | "RENAMED"
  | "KEY_NOT_TAKEN"
  | "VALUE_CHANGED"
  | "LITERAL_SECRET"
  | "PLACEHOLDER"
  | "NO_TARGET_ON_DISK"
  | "SWITCHED_OFF"
  | "NETWORK_SERVER"
  | "DEFINITION_MISMATCH"
  | "NOT_VALID";

/** One remark; `message` is a sentence for people and holds no values of variables. */
export interface ImportNote {
  readonly code: ImportNoteCode;
  readonly message: string;
}

/** One entry of a client's file and what became of it. */
export interface ImportedServer {
  /** The name in the client's file. */
  readonly sourceName: string;
  /** The name in the catalog. */
  readonly name: string;
  /** Line of the entry in the client's file, from 1. */
  readonly line: number;
  /** Absent when the entry was not taken: `notes` then says why. */
  readonly server?: CatalogServer | undefined;
  readonly notes: readonly ImportNote[];
}

/** Everything that a client's file held, entry by entry. */
export interface ImportReport {
  /** Undefined when the file has no form that is known. */
  readonly form: ClientForm | undefined;
  readonly servers: readonly ImportedServer[];
  /** Remarks on the file as a whole. */
  readonly notes: readonly ImportNote[];
  /** Why the file could not be read at all. */
  readonly problems: readonly DocumentProblem[];
}

/** An entry as the client's file has it. */
export interface ClientEntry {
  readonly name: string;
  readonly line: number;
  readonly value: unknown;
}
