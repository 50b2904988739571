/**
 * A promise that knows whether somebody waits for it. `await`, `.then`, `.catch`, `return` from an async function and
 * `Promise.all` all end in `then`: the subclass keeps `await` from taking its shortcut past it.
 */
export class Statement<T> extends Promise<T> {
  awaited = false;

  /** What `then` returns is an ordinary promise: only the first link of the chain is asked. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  static of<T>(outcome: Promise<T>): Statement<T> {
    const statement = new Statement<T>((resolve) => resolve(outcome));
    // A forgotten one that fails is reported by its unit, not as an unhandled rejection.
    void Promise.prototype.then.call(statement, undefined, () => undefined);
    return statement;
  }

  override then<A = T, B = never>(
    onValue?: ((value: T) => A | PromiseLike<A>) | null,
    onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.awaited = true;
    return super.then(onValue, onError);
  }
}
