/** A body that was not read. */
export class BodyRefusal extends Error {
  override readonly name = "BodyRefusal";
  readonly status: 400 | 413 | 415 | 503;
  constructor(status: 400 | 413 | 415 | 503, message: string) {
    super(message);
    this.status = status;
  }
}

/** Reads bodies of requests; all that are being read share one bound. */
export interface BodyReader {
  /**
   * The whole body.
   * @throws {BodyRefusal} 413 as soon as it is known to be over the limit, 503 when too much is being read.
   */
  bytes(request: Request, maxBytes: number): Promise<Uint8Array>;
  /**
   * A body as JSON; undefined for an empty one.
   * @throws {BodyRefusal} as `bytes`, and 400 for what is no JSON.
   */
  json(request: Request): Promise<unknown>;
}

export function createBodyReader(bounds: {
  readonly maxBodyBytes: number;
  readonly maxBufferedBytes: number;
}): BodyReader {
  let buffered = 0;

  const bytes = async (request: Request, maxBytes: number): Promise<Uint8Array> => {
    const tooLarge = (): BodyRefusal => new BodyRefusal(413, `the body is larger than ${maxBytes} bytes`);
    if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge();
    const chunks: Uint8Array[] = [];
    let size = 0;
    try {
      for await (const chunk of request.body ?? []) {
        size += chunk.byteLength;
        buffered += chunk.byteLength;
        if (size > maxBytes) throw tooLarge();
        if (buffered > bounds.maxBufferedBytes) throw new BodyRefusal(503, "too many bodies are being read");
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
    } finally {
      buffered -= size;
    }
  };
  return {
    bytes,
    async json(request) {
      const body = await bytes(request, bounds.maxBodyBytes);
      if (body.length === 0) return undefined;
      try {
        return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
      } catch (error) {
        const why = error instanceof Error ? error.message.slice(0, 200) : "";
        throw new NotJson(`the body is not JSON: ${why}`);
      }
    },
  };
}

/** Told apart, because the original does. */
export class NotJson extends BodyRefusal {
  constructor(message: string) {
    super(400, message);
  }
}
