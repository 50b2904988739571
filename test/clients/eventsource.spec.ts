import { EventSource } from 'eventsource';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpApp } from '../support/http-app.js';
import { waitFor } from '../support/wait-for.js';

let http: HttpApp;
/** The `Last-Event-ID` of each connection, and the status it got. */
let connections: { from: string | null; status: number }[];
beforeAll(async () => {
  http = await HttpApp.start();
});
afterAll(() => http.close());

/** As browsers have it, with a token that they cannot send. */
function follow(path: string): EventSource {
  connections = [];
  return new EventSource(`${http.url}${path}`, {
    fetch: async (url, init) => {
      const headers = { ...init.headers, Authorization: `Bearer ${http.token}` };
      const response = await fetch(url, { ...init, headers });
      connections.push({ from: new Headers(headers).get('last-event-id'), status: response.status });
      return response;
    },
  });
}

const EVENTS = ['created', 'queued', 'in_progress', 'output_text.delta', 'completed', 'cancelled'];

describe('the eventsource package (WIRE B5, WIRE-FACTS A4)', () => {
  it('follows a task to its end, comes again from where it was, and is told by 204 to stop', async () => {
    const { lmsp } = await http.accept();
    await http.task(lmsp.task_id, 'completed');
    const source = follow(`/v1/tasks/${lmsp.task_id}/events?starting_after=1`);
    const ids: string[] = [];
    for (const name of EVENTS) source.addEventListener(`response.${name}`, (event) => void ids.push(event.lastEventId));
    await waitFor('the source to close', () => source.readyState === EventSource.CLOSED);
    expect(ids[0]).toBe('2');
    expect(connections.map(({ from, status }) => [from, status])).toEqual([
      [null, 200],
      [ids.at(-1), 204],
    ]);
  });

  it('goes on behind the last event after its connection was cut', async () => {
    http.engine.hold('steps');
    const { id, lmsp } = await http.accept();
    const source = follow(`/v1/tasks/${lmsp.task_id}/events`);
    const types: string[] = [];
    for (const name of EVENTS) source.addEventListener(`response.${name}`, ({ type }) => void types.push(type));
    await waitFor('the task to run', () => types.includes('response.in_progress'));
    const before = types.length;
    http.streams.closeAll();
    await waitFor('the source to come again', () => connections.length === 2);
    await http.call('POST', `/v1/responses/${id}/cancel`);
    http.engine.release('steps');
    await waitFor('the end', () => types.includes('response.cancelled'));
    source.close();
    expect(types.slice(0, 2)).toEqual(['response.created', 'response.queued']);
    expect(new Set(types.slice(0, before)).size).toBe(before);
    expect(types.filter((type) => type === 'response.created')).toHaveLength(1);
  });
});
