/** The code of a system's error, such as `ENOENT`; undefined for everything else. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
