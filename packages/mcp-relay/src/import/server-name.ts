const allowed = /^(?=.{1,64}$)[A-Za-z0-9][A-Za-z0-9-]*(?:_[A-Za-z0-9-]+)*$/u;

/**
 * A catalog name close to a client's name, and not yet in `taken`. Clients allow any text (`@scope/pkg`, `My Server`);
 * in a catalog `server__tool` must split in one way.
 */
export function catalogName(sourceName: string, taken: ReadonlySet<string>): string {
  const close = allowed.test(sourceName) ? sourceName : closeName(sourceName);
  if (!taken.has(close)) return close;
  for (let count = 2; ; count += 1) {
    const counted = `${close.slice(0, 60).replace(/_$/u, "")}-${count}`;
    if (!taken.has(counted)) return counted;
  }
}

function closeName(sourceName: string): string {
  const plain = sourceName
    .replace(/[^A-Za-z0-9_-]+/gu, "-")
    .replace(/_{2,}/gu, "_")
    .replace(/^[_-]+/u, "")
    .slice(0, 64)
    .replace(/[_-]+$/u, "");
  return plain === "" ? "server" : plain;
}
