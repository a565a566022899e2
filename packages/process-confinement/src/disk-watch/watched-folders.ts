import type { PolicyTerms } from "../reading/policy-terms.js";

/** A folder that a sandbox may write, and what it may hold. */
export interface WatchedFolder {
  /** Real absolute path. */
  readonly path: string;
  readonly maxBytes: number;
}

export function foldersToWatch({ binds, workspace, limits }: PolicyTerms): readonly WatchedFolder[] {
  const asked = binds.map(({ source, maxBytes }) => ({ path: source, maxBytes }));
  return [...asked, { path: workspace?.folder, maxBytes: limits.diskBytes }].flatMap(({ path, maxBytes }) =>
    path === undefined || maxBytes === undefined ? [] : [{ path, maxBytes }],
  );
}
