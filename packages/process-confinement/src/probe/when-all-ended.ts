/** As Promise.all for two, but waits for the second also when the first fails: nothing goes on behind the caller's back. */
export async function whenAllEnded<A, B>(both: readonly [Promise<A>, Promise<B>]): Promise<[A, B]> {
  await Promise.allSettled(both);
  return Promise.all(both);
}
