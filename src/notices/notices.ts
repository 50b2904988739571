import { Injectable } from '@nestjs/common';
import type { NoticeName, NoticeTypes } from './notice-types.js';

type Listener<N extends NoticeName> = (notice: NoticeTypes[N]) => void | Promise<void>;
type AnyListener = <N extends NoticeName>(name: N, notice: NoticeTypes[N]) => void;
type Stored = (notice: never) => void | Promise<void>;

/**
 * Typed in-process notices: what happened, told after it is true (after the commit, where a transaction is involved).
 * Listeners run at once, in the order they were added; one that throws or rejects becomes `listener.failed` and never
 * disturbs whoever emitted.
 */
@Injectable()
export class Notices {
  private readonly byName = new Map<NoticeName, Set<Stored>>();
  private readonly all = new Set<AnyListener>();

  emit<N extends NoticeName>(name: N, notice: NoticeTypes[N]): void {
    for (const listener of this.all) this.call(name, () => listener(name, notice));
    for (const listener of this.byName.get(name) ?? []) this.call(name, () => (listener as Listener<N>)(notice));
  }

  /** Returns the function that takes the listener away again. */
  on<N extends NoticeName>(name: N, listener: Listener<N>): () => void {
    const listeners = this.byName.get(name) ?? new Set<Stored>();
    this.byName.set(name, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /** Hears every notice; for the log. Returns the function that takes the listener away again. */
  onAny(listener: AnyListener): () => void {
    this.all.add(listener);
    return () => void this.all.delete(listener);
  }

  private call(name: NoticeName, run: () => void | Promise<void>): void {
    try {
      run()?.catch((error: unknown) => this.listenerFailed(name, error));
    } catch (error) {
      this.listenerFailed(name, error);
    }
  }

  private listenerFailed(notice: NoticeName, error: unknown): void {
    // A listener that fails on the news of a failure would otherwise call itself for ever.
    if (notice !== 'listener.failed') this.emit('listener.failed', { notice, error });
  }
}
