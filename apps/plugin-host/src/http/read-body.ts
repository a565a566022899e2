import type { IncomingMessage } from "node:http";

/** A request that is answered with a status and a sentence. */
export class HttpRefusal extends Error {
  override readonly name = "HttpRefusal";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** Reads bodies; all that are being read or answered share one bound. */
export interface BodyReader {
  /**
   * What `use` makes of the whole body, which counts until then.
   * @throws {HttpRefusal} 413 as soon as it is known to be over the limit, 503 when too much is under way, 400 when it breaks off.
   */
  use<T>(request: IncomingMessage, use: (body: Uint8Array) => Promise<T>): Promise<T>;
}

export function createBodyReader(bounds: {
  readonly maxBodyBytes: number;
  readonly maxBufferedBytes: number;
}): BodyReader {
  const { maxBodyBytes, maxBufferedBytes } = bounds;
  const tooLarge = (): HttpRefusal => new HttpRefusal(413, `the body is larger than ${maxBodyBytes} bytes`);
  let buffered = 0;
  return {
    async use(request, use) {
      if (Number(request.headers["content-length"] ?? 0) > maxBodyBytes) throw tooLarge();
      let size = 0;
      const chunks: Uint8Array[] = [];
      try {
        for await (const chunk of chunksOf(request)) {
          size += chunk.byteLength;
          buffered += chunk.byteLength;
          if (size > maxBodyBytes) throw tooLarge();
          if (buffered > maxBufferedBytes) throw new HttpRefusal(503, "too many bodies are under way");
          chunks.push(chunk);
        }
        return await use(Buffer.concat(chunks));
      } finally {
        buffered -= size;
      }
    },
  };
}

async function* chunksOf(request: IncomingMessage): AsyncGenerator<Uint8Array, void, undefined> {
  const stream: AsyncIterable<Uint8Array> = request;
  try {
    for await (const chunk of stream) yield chunk;
  } catch {
    throw new HttpRefusal(400, "the body broke off"); // its client is gone: no fault of ours
  }
}
