import { describe, expect, it } from 'vitest';
import type { TurnReport } from './generation/turn-report.js';
import { ReportOutbox } from './report-outbox.js';

const HOUR = 3_600_000;

function turn(index: number, others: Partial<TurnReport> = {}, generation = 'a'): TurnReport {
  const step = { index, tokenId: index, kernelClass: 'alone' as const, text: '', finish: null };
  const none = { prefilled: [], rebuilt: [], replayed: [], ended: [], idle: false };
  return { ...none, steps: [[generation, step]], ...others };
}

function outbox(gatherMs: number): { box: ReportOutbox; sent: number[][]; reports: TurnReport[] } {
  const reports: TurnReport[] = [];
  const sent: number[][] = [];
  const send = (report: TurnReport): void => {
    reports.push(report);
    sent.push(report.steps.map(([, { index }]) => index));
  };
  return { box: new ReportOutbox(send, gatherMs), sent, reports };
}

describe('reports of a runner', () => {
  it('hold steps back after a message until there is more to tell, and lose none', () => {
    const { box, sent, reports } = outbox(HOUR);
    box.add(turn(5));
    for (const index of [6, 7, 8]) box.add(turn(index));
    expect(sent).toEqual([[5]]);
    box.add(turn(9, { ended: [['a', { outcome: 'finished', finish: 'stop' }]] }));
    expect(sent).toEqual([[5], [6, 7, 8, 9]]);
    expect(reports[1]!.ended).toHaveLength(1);
  });

  it.each<[string, TurnReport]>([
    ['the first token of another generation', turn(0, {}, 'b')],
    ['progress of a prompt', turn(7, { prefilled: [['b', 64, 0]] })],
    ['progress of a replay', turn(7, { replayed: [['b', 3]] })],
    ['what a log yields', turn(7, { rebuilt: [['b', []]] })],
    ['that nothing can be done', turn(7, { idle: true })],
  ])('go out at once with %s', (_, last) => {
    const { box, sent } = outbox(HOUR);
    box.add(turn(5));
    box.add(turn(6));
    box.add(last);
    expect(sent.map((each) => each.length)).toEqual([1, 2]);
  });

  it('go out at once where nothing is gathered, when enough steps are held, and when they are asked to', () => {
    const at = outbox(0);
    for (const index of [1, 2]) at.box.add(turn(index));
    expect(at.sent).toEqual([[1], [2]]);
    const { box, sent } = outbox(HOUR);
    for (let index = 1; index <= 20; index++) box.add(turn(index));
    expect(sent.map((each) => each.length)).toEqual([1, 16]);
    box.flush();
    box.flush();
    expect(sent.map((each) => each.length)).toEqual([1, 16, 3]);
  });
});
