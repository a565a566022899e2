import { STATUS_CODES } from "node:http";
import type { EgressRefused } from "./refused.js";

/** Said to an HTTP client whose tunnel is open. */
export const tunnelOpen: Buffer = Buffer.from("HTTP/1.1 200 Connection established\r\n\r\n");

/** Said to an HTTP client that waits before it sends its body (RFC 9110 § 10.1.1). */
export const goOn: Buffer = Buffer.from("HTTP/1.1 100 Continue\r\n\r\n");

/** The head of an answer; the connection ends with it. */
export function answerHead(status: number, text: string, fields: readonly (readonly [string, string])[]): Buffer {
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return Buffer.from(`HTTP/1.1 ${status} ${text}\r\n${lines}connection: close\r\n\r\n`, "latin1");
}

/** A refusal, with its reason where programs (`x-berth-egress`) and people look. */
export function refusalAnswer(refused: EgressRefused): Buffer {
  const body = Buffer.from(`${refused.reason}: ${refused.message}\n`);
  const head = answerHead(refused.status, STATUS_CODES[refused.status] ?? "", [
    ["content-type", "text/plain; charset=utf-8"],
    ["content-length", String(body.length)],
    ["x-berth-egress", refused.reason],
  ]);
  return Buffer.concat([head, body]);
}
