export { defaultStatePath } from "./default-path.js";
export { isStateError, StateError, type StateErrorCode } from "./errors.js";
export type { FolderLayout } from "./layout.js";
export { findPrivateFolder, openPrivateFolder } from "./private-folder.js";
export { readText } from "./read-text.js";
export { replaceFile } from "./replace-file.js";
