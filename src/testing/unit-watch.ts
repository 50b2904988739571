import { createHook } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { brokenUnitRules, surroundingUnit } from '../database/index.js';

/** Node's own channels for what leaves the process, published where it is asked for. */
const NETWORK = ['undici:request:create', 'http.client.request.start', 'net.client.socket'] as const;

/** Kinds of asynchronous work that no unit may wait for, and in words. */
const OTHER_WORK: Readonly<Record<string, string>> = {
  FSREQCALLBACK: 'a file',
  FSREQPROMISE: 'a file',
  GETADDRINFOREQWRAP: 'the network',
  PROCESSWRAP: 'a process',
  Timeout: 'a timer',
};

/** A unit does what is no database call: everybody else waits for it, and a rollback does not undo it. */
export class NotTheDatabase extends Error {
  constructor(what: string) {
    super(`${what} is used inside a unit of work; do that before or after it`);
    this.name = 'NotTheDatabase';
  }
}

/** Finds out who breaks the rules of units of work in this process (docs/extending/transactions.md). */
export class UnitWatch {
  private readonly told = new WeakSet<object>();
  private readonly onRule = (error: unknown): void => this.tell(error);
  private readonly onNetwork = (): void => this.found('the network');
  private readonly hook = createHook({
    init: (_id, type) => {
      const what = OTHER_WORK[type];
      if (what !== undefined) this.found(what);
    },
  });

  constructor(private readonly tell: (error: unknown) => void) {
    brokenUnitRules.subscribe(this.onRule);
    for (const name of NETWORK) subscribe(name, this.onNetwork);
    this.hook.enable();
  }

  end(): void {
    this.hook.disable();
    for (const name of NETWORK) unsubscribe(name, this.onNetwork);
    brokenUnitRules.unsubscribe(this.onRule);
  }

  /** Once for each unit: one request is several of these. */
  private found(what: string): void {
    const unit = surroundingUnit();
    if (unit === null || this.told.has(unit)) return;
    this.told.add(unit);
    this.tell(new NotTheDatabase(what));
  }
}
