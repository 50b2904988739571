import { describe, expect, it } from 'vitest';
import { TaskHandlers, type TaskHandler } from './task-handlers.js';

const handler = { type: 'scripted' } as TaskHandler;

describe('the handlers by task type', () => {
  it('HOUSE 3.4: a type that is registered twice is refused by name', () => {
    const handlers = new TaskHandlers();
    handlers.register(handler);
    expect(() => handlers.register(handler)).toThrow('task type "scripted" is registered twice');
    expect(handlers.of('scripted')).toBe(handler);
    expect(handlers.types()).toEqual(['scripted']);
  });

  it('a type that nobody registered is named', () => {
    expect(() => new TaskHandlers().of('unheard-of')).toThrow('no handler is registered for task type "unheard-of"');
  });
});
