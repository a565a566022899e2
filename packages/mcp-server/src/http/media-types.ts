/** Which kinds of answers a client takes. */
export interface Accepted {
  readonly json: boolean;
  readonly stream: boolean;
}
const both: Accepted = { json: true, stream: true };

/**
 * Reads an `Accept` header (RFC 9110 § 12.5.1): wildcards count, `q=0` excludes, of several ranges that match the most precise decides, and
 * without the header anything is accepted.
 */
export function readAccept(header: string | undefined): Accepted {
  if (header === undefined || header === "application/json, text/event-stream") return both;
  const ranges = header.split(",").map(readRange);
  return { json: accepts(ranges, "application/json"), stream: accepts(ranges, "text/event-stream") };
}

interface Range {
  readonly type: string;
  readonly isExcluded: boolean;
}

function readRange(text: string): Range {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  return { type, isExcluded: parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter)) };
}

function accepts(ranges: readonly Range[], type: string): boolean {
  const precedence = [type, `${type.slice(0, type.indexOf("/"))}/*`, "*/*"];
  for (const wanted of precedence) {
    const found = ranges.find((range) => range.type === wanted);
    if (found !== undefined) return !found.isExcluded;
  }
  return false;
}

/** Whether a body of this `Content-Type` is JSON in UTF-8. Other parameters than `charset` mean nothing (RFC 8259 § 11). */
export function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  if (contentType === "application/json") return true;
  const [type, ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  if (type !== "application/json") return false;
  return parameters.every((parameter) => !parameter.startsWith("charset=") || /^charset="?utf-8"?$/.test(parameter));
}
