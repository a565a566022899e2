import type { EgressReason } from "./egress.js";
import type { Destination } from "./http-target.js";
import type { Intake } from "./intake.js";
import { EgressRefused, malformed } from "./refused.js";

/** What a SOCKS5 client asked for, or the reply code that tells it why not. */
export interface SocksRequest {
  /** RFC 1928 § 6; 0 when it may go on. */
  readonly reply: number;
  readonly to: Destination;
}

const noAuthentication = 0;
const connectCommand = 1;
const commandNotSupported = 7;
const replyOf: { readonly [Reason in EgressReason]: number } = {
  HOST_NOT_ALLOWED: 2,
  PORT_NOT_ALLOWED: 2,
  PRIVATE_ADDRESS: 2,
  RESOLUTION_FAILED: 4,
  CONNECT_FAILED: 5,
  REQUEST_INVALID: 1,
  LIMIT_REACHED: 1,
};

/**
 * Reads greeting and request (RFC 1928 §§ 3, 4); `answer` sends the choice of method in between.
 * @throws {EgressRefused} `REQUEST_INVALID`.
 */
export async function readSocksRequest(intake: Intake, answer: (bytes: Buffer) => void): Promise<SocksRequest> {
  const [, methodCount = 0] = await intake.take(2);
  const methods = await intake.take(methodCount);
  const accepted = methods.includes(noAuthentication);
  answer(Buffer.from([5, accepted ? noAuthentication : 0xff]));
  if (!accepted) throw malformed("the client wants to authenticate");
  const [version, command, reserved, addressType] = await intake.take(4);
  if (version !== 5 || reserved !== 0) throw malformed("the SOCKS request is malformed");
  const host = await readHost(intake, addressType ?? 0);
  const port = (await intake.take(2)).readUInt16BE();
  if (port === 0) throw malformed("the port is 0");
  return { reply: command === connectCommand ? 0 : commandNotSupported, to: { host, port } };
}

/** Addresses are read as text, for the decision's record; they are refused with every other address. */
async function readHost(intake: Intake, addressType: number): Promise<string> {
  if (addressType === 1) return [...(await intake.take(4))].join(".");
  if (addressType === 4) return `[${(await intake.take(16)).toString("hex").replace(/(.{4})(?=.)/g, "$1:")}]`;
  if (addressType !== 3) throw malformed("the address type is unknown");
  const [length = 0] = await intake.take(1);
  const bytes = await intake.take(length);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new EgressRefused("REQUEST_INVALID", `the host is not UTF-8: ${String(cause)}`);
  }
}

/** RFC 1928 § 6, with an empty bound address: it is nothing of the client's. */
export function socksReply(reply: number | EgressReason): Buffer {
  return Buffer.from([5, typeof reply === "number" ? reply : replyOf[reply], 0, 1, 0, 0, 0, 0, 0, 0]);
}
