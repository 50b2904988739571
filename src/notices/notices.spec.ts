import { describe, expect, it } from 'vitest';
import type { NoticeTypes } from './notice-types.js';
import { Notices } from './notices.js';

function failures(notices: Notices): NoticeTypes['listener.failed'][] {
  const heard: NoticeTypes['listener.failed'][] = [];
  notices.on('listener.failed', (notice) => void heard.push(notice));
  return heard;
}

describe('Notices', () => {
  it('tells a notice to its listeners in the order they were added', () => {
    const notices = new Notices();
    const heard: string[] = [];
    notices.on('model.loading', ({ model }) => void heard.push(`first ${model}`));
    notices.on('model.loading', ({ model }) => void heard.push(`second ${model}`));
    notices.on('model.unloaded', () => void heard.push('other'));
    notices.emit('model.loading', { model: 'pocket' });
    expect(heard).toEqual(['first pocket', 'second pocket']);
  });

  it('tells every notice with its name to a listener of all', () => {
    const notices = new Notices();
    const heard: unknown[] = [];
    notices.onAny((name, notice) => void heard.push([name, notice]));
    notices.emit('model.loading', { model: 'pocket' });
    notices.emit('service.stopped', { exit_code: 0 });
    expect(heard).toEqual([
      ['model.loading', { model: 'pocket' }],
      ['service.stopped', { exit_code: 0 }],
    ]);
  });

  it('tells nothing to a listener that was taken away', () => {
    const notices = new Notices();
    const heard: string[] = [];
    notices.on('model.loading', ({ model }) => void heard.push(model))();
    notices.onAny((name) => void heard.push(name))();
    notices.emit('model.loading', { model: 'pocket' });
    expect(heard).toEqual([]);
  });

  it('shields the emitter and the other listeners from one that throws', () => {
    const notices = new Notices();
    const failed = failures(notices);
    const heard: string[] = [];
    const error = new Error('broken listener');
    notices.on('model.loading', () => {
      throw error;
    });
    notices.on('model.loading', ({ model }) => void heard.push(model));
    notices.emit('model.loading', { model: 'pocket' });
    expect(heard).toEqual(['pocket']);
    expect(failed).toEqual([{ notice: 'model.loading', error }]);
  });

  it('tells of a listener that rejects', async () => {
    const notices = new Notices();
    const failed = failures(notices);
    const error = new Error('late');
    notices.on('model.loading', () => Promise.reject(error));
    notices.emit('model.loading', { model: 'pocket' });
    await Promise.resolve();
    await Promise.resolve();
    expect(failed).toEqual([{ notice: 'model.loading', error }]);
  });

  it('does not call itself for ever when the listener of failures fails', () => {
    const notices = new Notices();
    let calls = 0;
    notices.on('listener.failed', () => {
      calls += 1;
      throw new Error('again');
    });
    notices.emit('listener.failed', { notice: 'model.loading', error: new Error('first') });
    expect(calls).toBe(1);
  });
});
