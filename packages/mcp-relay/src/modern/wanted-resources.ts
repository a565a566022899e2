/** Resources that one client may be subscribed to. */
export const maxSubscriptions = 1_024;
/** Of their addresses together: all of them are repeated at each change. */
const maxUriBytes = 1_048_576;

/** Why a subscription is not had; undefined: it is. */
export type SubscribeFault = string | undefined;

/** Addresses that the client wants to hear of. */
export interface WantedResources {
  readonly size: number;
  /** A fault when there is no room for it; one that is there already is no fault. */
  add(uri: string): SubscribeFault;
  has(uri: string): boolean;
  delete(uri: string): boolean;
  uris(): readonly string[];
}

/** None yet. */
export function createWantedResources(): WantedResources {
  const byteCounts = new Map<string, number>();
  let bytes = 0;
  return {
    get size() {
      return byteCounts.size;
    },
    has: (uri) => byteCounts.has(uri),
    uris: () => [...byteCounts.keys()],
    add(uri) {
      if (byteCounts.has(uri)) return undefined;
      const byteCount = Buffer.byteLength(uri);
      if (byteCounts.size >= maxSubscriptions) return `more than ${maxSubscriptions} subscriptions`;
      if (bytes + byteCount > maxUriBytes) return `addresses of subscriptions over ${maxUriBytes} bytes`;
      byteCounts.set(uri, byteCount);
      bytes += byteCount;
      return undefined;
    },
    delete(uri) {
      bytes -= byteCounts.get(uri) ?? 0;
      return byteCounts.delete(uri);
    },
  };
}
