/** A body that was not read. */
export class BodyRefusal extends Error {
  override readonly name = "BodyRefusal";
  readonly status: 400 | 413 | 415;
  constructor(status: 400 | 413 | 415, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * The whole body.
 * @throws {BodyRefusal} 413 as soon as it is known to be over the limit.
 */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = (): BodyRefusal => new BodyRefusal(413, `the body is larger than ${maxBytes} bytes`);
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * A body as JSON; undefined for an empty one.
 * @throws {BodyRefusal} 413, or 400 for what is no JSON.
 */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const body = await readBody(request, maxBytes);
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (error) {
    throw new BodyRefusal(400, `the body is not JSON: ${error instanceof Error ? error.message.slice(0, 200) : ""}`);
  }
}
