import type { Notices } from '../notices/index.js';
import { UnitWatch } from './unit-watch.js';

/** Something that went wrong inside the service, whether a request was told of it or not. */
export interface Failure {
  /** `http.fault`, `task.fault`, `recorder.failed`, `listener.call_failed`, `retention.failed` …, or `unit rule`. */
  readonly where: string;
  readonly error: unknown;
}

/** Notices that tell of an error which whoever caused it may never see. */
const NOTICES: readonly string[] = [
  'http.fault',
  'task.fault',
  'recorder.failed',
  'listener.call_failed',
  'listener.failed',
  'retention.failed',
];

/** Collects what goes wrong in a service under test, each error once. */
export class Failures {
  private list: Failure[] = [];
  private readonly watch = new UnitWatch((error) => this.note({ where: 'unit rule', error }));
  private leave: () => void = () => undefined;

  /** Listens to this application, and no longer to the one before. */
  follow(notices: Notices): void {
    this.leave();
    this.leave = notices.onAny((name, notice) => {
      if (NOTICES.includes(name) && 'error' in notice) this.note({ where: name, error: notice.error });
    });
  }

  /** What there is since the last call. */
  take(): Failure[] {
    return this.list.splice(0);
  }

  /** From now on it hears nothing. */
  leaveAll(): void {
    this.leave();
    this.watch.end();
  }

  private note(failure: Failure): void {
    if (!this.list.some(({ error }) => error === failure.error)) this.list.push(failure);
  }
}
