import { IncomingMessage } from "node:http";

/** A body that was not read: `status` is what its client is told, and the message why. */
export class BodyRefusal extends Error {
  override readonly name = "BodyRefusal";
  readonly status: 400 | 413 | 415 | 503;
  constructor(status: 400 | 413 | 415 | 503, message: string) {
    super(message);
    this.status = status;
  }
}

/** A request of Node's `http`, or one in the web's form. */
export type IncomingRequest = IncomingMessage | Request;

/** What bounds bodies, in bytes. */
export interface BodyBounds {
  /** Largest one as JSON. */
  readonly maxBodyBytes: number;
  /** All that are being read or used, together. */
  readonly maxBufferedBytes: number;
}

/**
 * Reads bodies of requests; all that are being read or used share one bound. Once two owners have come, several of one owner take at
 * most as much as they leave free: slow bodies of one keep no other's out.
 */
export interface BodyReader {
  /**
   * The whole body.
   * @throws {BodyRefusal} 413 as soon as it is known to be over the limit, 503 when too much is being read, 400 when it breaks off.
   */
  bytes(request: IncomingRequest, owner: string, maxBytes: number): Promise<Uint8Array>;
  /**
   * What is made of the whole body; it counts until then, since whoever waits for something holds it in memory.
   * @throws {BodyRefusal} as `bytes`, and whatever `use` throws.
   */
  use<T>(request: IncomingRequest, owner: string, maxBytes: number, use: (body: Uint8Array) => Promise<T>): Promise<T>;
  /**
   * A body as JSON; undefined for an empty one.
   * @throws {BodyRefusal} as `bytes`, and 400 for what is no JSON.
   */
  json(request: IncomingRequest, owner: string): Promise<unknown>;
}

/** What one owner has of the bound. */
interface Share {
  bytes: number;
  bodies: number;
}

/** A reader for one server. */
export function createBodyReader(bounds: BodyBounds): BodyReader {
  let buffered = 0;
  const owners = new Map<string, Share>();
  let first: string | undefined;
  let isShared = false;

  const shareOf = (owner: string): Share => {
    isShared ||= first !== undefined && first !== owner;
    first ??= owner;
    const share = owners.get(owner) ?? { bytes: 0, bodies: 0 };
    owners.set(owner, share);
    return share;
  };
  const isTooMuch = (share: Share): boolean => {
    const free = bounds.maxBufferedBytes - buffered;
    return free < 0 || (isShared && share.bodies > 1 && share.bytes > free);
  };
  const use: BodyReader["use"] = async (request, owner, maxBytes, make) => {
    const share = shareOf(owner);
    share.bodies += 1;
    let size = 0;
    const take = (chunk: Uint8Array): void => {
      size += chunk.byteLength;
      buffered += chunk.byteLength;
      share.bytes += chunk.byteLength;
      if (size > maxBytes) throw tooLarge(maxBytes);
      if (isTooMuch(share)) throw new BodyRefusal(503, "too many bodies are being read");
    };
    try {
      return await make(await readAll(request, maxBytes, take));
    } finally {
      buffered -= size;
      share.bytes -= size;
      share.bodies -= 1;
      if (share.bodies === 0) owners.delete(owner);
    }
  };
  const bytes: BodyReader["bytes"] = (request, owner, maxBytes) => use(request, owner, maxBytes, async (body) => body);
  return {
    bytes,
    use,
    async json(request, owner) {
      const body = await bytes(request, owner, bounds.maxBodyBytes);
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

async function readAll(
  request: IncomingRequest,
  maxBytes: number,
  take: (chunk: Uint8Array) => void,
): Promise<Uint8Array> {
  const isNodes = request instanceof IncomingMessage;
  const declared = isNodes ? request.headers["content-length"] : request.headers.get("content-length");
  if (Number(declared ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const parts: AsyncIterable<Uint8Array> | readonly Uint8Array[] = isNodes
    ? request.iterator({ destroyOnReturn: false }) // else the refusal could not be sent: the connection would go with the stream
    : (request.body ?? []);
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of parts) {
      take(chunk);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof BodyRefusal) throw error;
    throw new BodyRefusal(400, "the body broke off"); // its client is gone: no fault of ours
  }
  return Buffer.concat(chunks);
}

function tooLarge(maxBytes: number): BodyRefusal {
  return new BodyRefusal(413, `the body is larger than ${maxBytes} bytes`);
}

/** The refusal of a body that is no JSON, for servers that tell it apart. */
export class NotJson extends BodyRefusal {
  constructor(message: string) {
    super(400, message);
  }
}
