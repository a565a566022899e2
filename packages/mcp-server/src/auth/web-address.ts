import { optionFault } from "./errors.js";

/**
 * An absolute address that a client or this server may be sent to: https, or http where the network is not left. Without user, query and fragment.
 * @throws {AuthError} `AUTH_OPTIONS_INVALID`.
 */
export function readAddress(option: string, text: string, { query = false }: { query?: boolean } = {}): URL {
  if (!URL.canParse(text)) optionFault(`${option} is no absolute URL`);
  const url = new URL(text);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) {
    // Only what can hold no secret is told of an address.
    optionFault(`${option} begins with ${url.protocol}; it has to be https, or http on a loopback address`);
  }
  if (url.username !== "" || url.password !== "") optionFault(`${option} must not name a user`);
  if (text.includes("#")) optionFault(`${option} must not have a fragment`);
  if (!query && text.includes("?")) optionFault(`${option} must not have a query`);
  if (!printable.test(text)) optionFault(`${option} has to be ASCII, with everything else percent-encoded`);
  return url;
}
const printable = /^[!-~]+$/;

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
