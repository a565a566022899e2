/**
 * A class name as it stands in file names; must equal the Python rule exactly (CPEX fact sheet § 5.1): `str.isalnum()` is
 * true for letters and for what has a numeric value, which is what the categories L and N are.
 */
export function classStem(className: string): string {
  const stem = className.replace(/[^\p{L}\p{N}_-]/gu, "-").replace(/^-+|-+$/g, "");
  return stem === "" ? "plugin" : stem;
}

/** The first part of a class name: the folder of its package. Undefined when it cannot be one. */
export function classRoot(className: string): string | undefined {
  const root = className.trim().split(".")[0] ?? "";
  return /^[\p{L}\p{N}_-]{1,200}$/u.test(root) ? root : undefined;
}
