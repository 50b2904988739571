import { describe, expect, it } from 'vitest';
import { eventJson, eventText } from './task-log.js';

describe('the JSON text of an event', () => {
  it('is the same, byte for byte, from a payload and from its JSON', () => {
    for (const payload of [{}, { response: { output: [{ text: '"}' }], error: null } }]) {
      const text = eventText('response.failed', 7, JSON.stringify(payload));
      expect(text).toBe(eventJson('response.failed', 7, payload));
    }
  });
});
