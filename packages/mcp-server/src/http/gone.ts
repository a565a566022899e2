/** Tells once that the client of an exchange is gone; also those who ask later. */
export class Gone {
  #callbacks: (() => void)[] | undefined;
  #isGone = false;

  get isGone(): boolean {
    return this.#isGone;
  }

  /** At once when the client is gone already. */
  onGone(callback: () => void): void {
    if (this.#isGone) callback();
    else if (this.#callbacks === undefined) this.#callbacks = [callback];
    else this.#callbacks.push(callback);
  }

  tell(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    const callbacks = this.#callbacks ?? [];
    this.#callbacks = undefined;
    for (const callback of callbacks) callback();
  }
}
