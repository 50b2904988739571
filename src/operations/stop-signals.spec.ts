import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { stopOnSignals } from './stop-signals.js';

function start() {
  const source = new EventEmitter();
  const exits: number[] = [];
  const crashes: unknown[] = [];
  const stops: string[] = [];
  const clock = { ms: 5000 };
  const { promise, resolve, reject } = deferred();
  stopOnSignals({
    stop: (signal) => {
      stops.push(signal);
      return promise;
    },
    exit: (code) => void exits.push(code),
    crash: (error) => void crashes.push(error),
    source,
    now: () => clock.ms,
  });
  return { source, exits, crashes, stops, clock, resolve, reject };
}

function deferred() {
  let resolve!: () => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

const settled = async (): Promise<void> => {
  await Promise.resolve();
  await Promise.resolve();
};

describe('stopping by signal (OPERATE 5.2)', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('begins one clean stop at %s and exits 0 only after it', async (signal) => {
    const { source, exits, stops, resolve } = start();
    source.emit(signal);
    await settled();
    expect([stops, exits]).toEqual([[signal], []]);
    resolve();
    await settled();
    expect([stops, exits]).toEqual([[signal], [0]]);
  });

  it('ends as a crash, which logs the reason, after a stop that failed', async () => {
    const { source, exits, crashes, reject } = start();
    const error = new Error('the store could not be closed');
    source.emit('SIGTERM');
    reject(error);
    await settled();
    expect([crashes, exits]).toEqual([[error], []]);
  });

  it('takes signals within a second of the first for the same wish', () => {
    const { source, exits, stops, clock } = start();
    source.emit('SIGINT');
    clock.ms += 999;
    source.emit('SIGINT');
    source.emit('SIGTERM');
    expect([stops, exits]).toEqual([['SIGINT'], []]);
  });

  it('exits 1 at once at a signal a second or more after the first, without a second stop', () => {
    const { source, exits, stops, clock } = start();
    source.emit('SIGTERM');
    clock.ms += 1000;
    source.emit('SIGINT');
    expect([stops, exits]).toEqual([['SIGTERM'], [1]]);
  });
});
