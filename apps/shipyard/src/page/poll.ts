/** Asks again and again while the page is looked at. */
export interface Poll {
  /** Now, and again `everyMs` after it has ended. */
  soon(): void;
  stop(): void;
}

/** `ask` never rejects. */
export function createPoll(ask: () => Promise<void>, everyMs: number): Poll {
  let timer: number | undefined;
  let isAsking = false;
  let isWanted = false;
  let isStopped = false;
  const soon = async (): Promise<void> => {
    window.clearTimeout(timer);
    isWanted = true;
    if (isAsking || isStopped) return;
    isAsking = true;
    while (isWanted && !isStopped) {
      isWanted = false;
      await ask();
    }
    isAsking = false;
    if (!isStopped && !document.hidden) timer = window.setTimeout(() => void soon(), everyMs);
  };
  const onShown = (): void => {
    if (!document.hidden) void soon();
  };
  document.addEventListener("visibilitychange", onShown);
  void soon();
  return {
    soon: () => void soon(),
    stop() {
      isStopped = true;
      window.clearTimeout(timer);
      document.removeEventListener("visibilitychange", onShown);
    },
  };
}
