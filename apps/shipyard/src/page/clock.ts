const steps = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** Two units at most: `23 h 59 min`, `4 min 05 s`, `12 s`. What is over is `0 s`. */
export function duration(ms: number): string {
  const whole = Math.max(0, ms);
  const at = steps.findIndex(([, size]) => whole >= size);
  if (at === -1) return "0 s";
  const [large, small] = [steps[at], steps[at + 1]];
  if (large === undefined) return "0 s";
  const first = `${Math.floor(whole / large[1])} ${large[0]}`;
  const rest = small === undefined ? 0 : Math.floor((whole % large[1]) / small[1]);
  return small === undefined || rest === 0 ? first : `${first} ${String(rest).padStart(2, "0")} ${small[0]}`;
}

/** How long code ran: `0.4 ms`, `12 ms`, `1.25 s`, then as `duration`. */
export function took(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(2)} s` : duration(ms);
}

const units = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const;

/** `512 bytes`, `1.5 KiB`, `1 GiB`. */
export function size(bytes: number): string {
  let value = bytes;
  let at = 0;
  while (value >= 1_024 && at < units.length - 1) {
    value /= 1_024;
    at += 1;
  }
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${units[at] ?? ""}`;
}

/** A limit that is held, in its own unit. */
export function limitText(limit: string, value: number): string {
  const words = limit.replace(/Bytes$/, "").replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  if (limit.endsWith("Bytes")) return `${words} ${size(value)}`;
  return limit.endsWith("Ms") ? `${words.replace(/ ms$/, "")} ${duration(value)}` : `${words} ${value}`;
}
