import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Notices } from '../../src/notices/index.js';
import { HttpApp } from '../support/http-app.js';
import { scrapeOf, valueOf } from '../support/scrape.js';
import { waitFor } from '../support/wait-for.js';

const model = { model: 'pocket' };

describe('metrics of models, tokens and the store (OPERATE 3.2)', () => {
  let app: HttpApp;

  beforeAll(async () => {
    app = await HttpApp.start();
  });

  afterAll(() => app.close());

  it('say of a service without a loaded model that there is none', async () => {
    const families = await scrapeOf(app);
    expect(valueOf(families, 'lmsp_models', { state: 'available' })).toBe(2);
    expect(valueOf(families, 'lmsp_models', { state: 'loaded' })).toBe(0);
    expect(valueOf(families, 'lmsp_batch_size', model)).toBeUndefined();
    expect(valueOf(families, 'lmsp_prompt_tokens_total', model)).toBeUndefined();
  });

  it('count the tokens of stored and of forgotten responses alike, and time them from the claim', async () => {
    const { body } = await app.create();
    await app.create({ store: false });
    const { input_tokens: prompt, output_tokens: output } = body.usage;
    const families = await scrapeOf(app);
    expect(valueOf(families, 'lmsp_prompt_tokens_total', model)).toBe(2 * prompt);
    expect(valueOf(families, 'lmsp_output_tokens_total', model)).toBe(2 * output);
    expect(valueOf(families, 'lmsp_replayed_tokens_total', model)).toBe(0);
    for (const name of ['time_to_first_token_seconds', 'time_per_output_token_seconds', 'request_output_tokens']) {
      expect(valueOf(families, `lmsp_${name}_count`, model)).toBe(2);
    }
    expect(valueOf(families, 'lmsp_request_prompt_tokens_sum', model)).toBe(2 * prompt);
    expect(valueOf(families, 'lmsp_model_load_duration_seconds_count', model)).toBe(1);
  });

  it('show what is being worked on while it is', async () => {
    app.engine.hold('steps');
    const { lmsp } = await app.accept();
    await app.task(lmsp.task_id, 'running');
    app.engine.step(2);
    const busy = await waitFor('a sequence', async () => {
      const families = await scrapeOf(app);
      return valueOf(families, 'lmsp_batch_size', model) === 1 ? families : null;
    });
    expect(valueOf(busy, 'lmsp_kv_tokens', model)).toBeGreaterThan(5);
    expect(valueOf(busy, 'lmsp_kv_capacity_tokens', model)).toBe(8 * 2048);
    expect(valueOf(busy, 'lmsp_runner_resident_memory_bytes', model)).toBe(1_000_000);
    expect(valueOf(busy, 'lmsp_runner_last_step_age_seconds', model)).toBeGreaterThanOrEqual(0);
    expect(valueOf(busy, 'lmsp_models', { state: 'loaded' })).toBe(1);
    app.engine.release('steps');
    await app.task(lmsp.task_id, 'completed');
    expect(valueOf(await scrapeOf(app), 'lmsp_kv_tokens', model)).toBe(0);
  });

  it('count unloads and lost model processes', async () => {
    await app.call('POST', '/v1/models/unload', { model: 'pocket' });
    await app.call('POST', '/v1/models/load', { model: 'pocket' });
    app.engine.killAll();
    const families = await waitFor('the loss', async () => {
      const found = await scrapeOf(app);
      return valueOf(found, 'lmsp_runner_restarts_total', { ...model, reason: 'ended' }) === 1 ? found : null;
    });
    expect(valueOf(families, 'lmsp_model_unloads_total', { ...model, reason: 'requested' })).toBe(1);
  });

  it('count events as they lie in the store, and measure commits', async () => {
    const [row] = await app.store.reader.query<{ events: number }>('select count(*) as events from task_events');
    const families = await scrapeOf(app);
    expect(valueOf(families, 'lmsp_events_appended_total')).toBe(row?.events);
    expect(valueOf(families, 'lmsp_event_append_seconds_count')).toBeGreaterThan(0);
    expect(valueOf(families, 'lmsp_db_commit_duration_seconds_count', { kind: 'accept' })).toBe(2);
    expect(valueOf(families, 'lmsp_db_batch_operations_sum', { kind: 'accept' })).toBe(2);
    expect(valueOf(families, 'lmsp_db_batch_operations_count', { kind: 'other' })).toBeUndefined();
    expect(valueOf(families, 'lmsp_db_write_queue')).toBe(0);
  });

  it('tell what retention did, and when it last did all of it', async () => {
    const notices = app.app.get(Notices);
    const finished = { trigger: 'start', removed: 3, freed_pages: 0, held: false, duration_ms: 1 };
    const last = async () => valueOf(await scrapeOf(app), 'lmsp_retention_last_success_timestamp_seconds');
    await waitFor('the run at the start', async () => (await last()) !== 0);
    const before = await last();
    notices.emit('retention.removed', { kind: 'tasks', removed: 3, rows: 40, batches: 1 });
    notices.emit('retention.finished', { ...finished, failed_kinds: 1, interrupted: false });
    notices.emit('retention.finished', { ...finished, failed_kinds: 0, interrupted: true });
    expect(await last()).toBe(before);
    expect(valueOf(await scrapeOf(app), 'lmsp_retention_deleted_total', { kind: 'tasks' })).toBe(3);
    notices.emit('retention.finished', { ...finished, failed_kinds: 0, interrupted: false });
    expect(await last()).toBeGreaterThan(before ?? 0);
  });

  it('tell the sizes of the store and of the disk', async () => {
    const families = await scrapeOf(app);
    const { size } = await stat(join(app.dataDir, 'lmsp.sqlite'));
    expect(valueOf(families, 'lmsp_db_size_bytes', { file: 'main' })).toBe(size);
    expect(valueOf(families, 'lmsp_db_size_bytes', { file: 'wal' })).toBeGreaterThan(0);
    expect(valueOf(families, 'lmsp_db_free_bytes')).toBeGreaterThanOrEqual(0);
    expect(valueOf(families, 'lmsp_disk_free_bytes', { volume: 'data' })).toBeGreaterThan(1e6);
  });
});
