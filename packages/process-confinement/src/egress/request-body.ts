import type { BodyFraming } from "./http-head.js";
import type { Intake } from "./intake.js";
import { malformed } from "./refused.js";

const pieceBytes = 65_536;
const maxTrailerBytes = 8_192;
// Eight digits of size: 4 GiB a chunk. Extensions are refused: nobody uses them, and parsers disagree about them.
const chunkLine = /^[0-9a-fA-F]{1,8}\r\n$/;

/**
 * The bytes of exactly one request's body, without its framing; what follows is never read.
 * @throws {EgressRefused} `REQUEST_INVALID` for a chunk that is malformed.
 */
export async function* readBody(intake: Intake, framing: BodyFraming): AsyncGenerator<Buffer> {
  if (framing.kind === "none") return;
  if (framing.kind === "length") return yield* readExactly(intake, framing.bytes);
  for (;;) {
    const size = await readChunkSize(intake);
    if (size === 0) break;
    yield* readExactly(intake, size);
    if ((await intake.take(2)).toString("latin1") !== "\r\n") throw malformed("a chunk does not end where it says");
  }
  await skipTrailers(intake);
}

async function* readExactly(intake: Intake, bytes: number): AsyncGenerator<Buffer> {
  for (let left = bytes; left > 0; ) {
    const piece = await intake.takeSome(Math.min(left, pieceBytes));
    left -= piece.length;
    yield piece;
  }
}

async function readChunkSize(intake: Intake): Promise<number> {
  const line = await intake.takeThrough("\n", 10, () => malformed("a chunk size is malformed"));
  const text = line.toString("latin1");
  if (!chunkLine.test(text)) throw malformed("a chunk size is malformed");
  return Number.parseInt(text, 16);
}

/** Trailers are hop-by-hop here: read to find the end, and dropped. */
async function skipTrailers(intake: Intake): Promise<void> {
  const tooLong = (): Error => malformed("trailers are too long");
  for (let left = maxTrailerBytes; ; ) {
    const line = await intake.takeThrough("\n", left, tooLong);
    if (line.toString("latin1") === "\r\n") return;
    left -= line.length;
    if (left <= 0) throw tooLong();
  }
}
