export { type PrintEntriesOptions, type PrintedEntry, printNewestEntries, type ShownEntry } from "./print-entries.js";
export { type FolderVerification, printVerification } from "./print-verification.js";
