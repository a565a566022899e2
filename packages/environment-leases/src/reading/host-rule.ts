const maxNameLength = 253;
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** What ends in a number is an IPv4 address for URL parsers, in whatever notation (WHATWG URL § 3.5). */
const number = /^(?:\d+|0x[0-9a-f]*)$/;
const port = /^[1-9]\d{0,4}$/;

/** `host`, `host:port`, or `*.` and a suffix of at least two labels; lower case ASCII (punycode), no address literal. */
export function isHostRule(rule: string): boolean {
  if (rule.startsWith("*.")) {
    const suffix = rule.slice(2);
    return isHostName(suffix) && suffix.includes(".");
  }
  const [host, portText, ...more] = rule.split(":");
  if (host === undefined || more.length > 0 || !isHostName(host)) return false;
  return portText === undefined || (port.test(portText) && Number(portText) <= 65_535);
}

function isHostName(name: string): boolean {
  const labels = name.split(".");
  return name.length <= maxNameLength && labels.every((part) => label.test(part)) && !number.test(labels.at(-1) ?? "");
}
