/** The bearer token, as long as this tab lives and nowhere else. */
export interface TokenKeeper {
  readonly token: string | undefined;
  keep(token: string): void;
  forget(): void;
}

const key = "berth-shipyard.token";

export function createTokenKeeper(storage: Storage): TokenKeeper {
  return {
    get token() {
      return storage.getItem(key) ?? undefined;
    },
    keep: (token) => storage.setItem(key, token),
    forget: () => storage.removeItem(key),
  };
}
