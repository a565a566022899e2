/** How often a large count is run: all of it under BERTH_SOAK=1, else a twentieth, which is printed. */
export function soakCount(full: number): number {
  if (process.env["BERTH_SOAK"] === "1") return full;
  const reduced = Math.ceil(full / 20);
  process.stderr.write(`${reduced} of ${full} (all with BERTH_SOAK=1)\n`);
  return reduced;
}
