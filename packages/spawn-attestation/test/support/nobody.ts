/** Runs something with the rights of the user nobody; only root can. */
export function asNobody<T>(run: () => T): T {
  process.seteuid?.(65534);
  try {
    return run();
  } finally {
    process.seteuid?.(0);
  }
}
