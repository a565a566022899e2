/** What has to be closed, in the reverse order of its opening. */
export interface Closers {
  /** Adds one; when it is opened while all is being closed already, the caller closes it. */
  add(name: string, close: () => Promise<void>): void;
  /** Closes all, each even when another fails. Resolves with the names of what was not closed in time. */
  close(withinMs: number): Promise<readonly string[]>;
}

/** @param onFault Told of each close that failed. Must not throw. */
export function createClosers(onFault: (name: string, fault: unknown) => void): Closers {
  const open: { readonly name: string; readonly close: () => Promise<void> }[] = [];
  const closeAll = async (): Promise<void> => {
    for (let next = open.at(-1); next !== undefined; next = open.at(-1)) {
      await next.close().catch((fault: unknown) => onFault(next?.name ?? "", fault));
      open.pop();
    }
  };
  let closing: Promise<readonly string[]> | undefined;
  const closeWithin = async (withinMs: number): Promise<readonly string[]> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs);
    });
    await Promise.race([closeAll(), late]);
    clearTimeout(timer);
    return open.map(({ name }) => name);
  };
  return {
    add: (name, close) => {
      open.push({ name, close });
    },
    close: (withinMs) => (closing ??= closeWithin(withinMs)),
  };
}
