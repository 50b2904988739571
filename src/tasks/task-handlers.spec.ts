import { describe, expect, it } from 'vitest';
import { TaskHandlers, type TaskHandler } from './task-handlers.js';
import { TaskTypeTaken } from './tasks.errors.js';

const handler = { type: 'scripted' } as TaskHandler;

describe('the handlers by task type', () => {
  it('HOUSE 3.4: a type that is registered twice is refused by name', () => {
    const handlers = new TaskHandlers({ retentionTasksSeconds: 0 });
    handlers.register(handler);
    const again = (): void => handlers.register(handler, 'summarise');
    expect(again).toThrow(TaskTypeTaken);
    expect(again).toThrow('"scripted" is registered by the service itself already, and summarise wants it');
    expect(handlers.of('scripted')).toBe(handler);
    expect(handlers.types()).toEqual(['scripted']);
  });

  it('a type that nobody registered is named', () => {
    expect(() => new TaskHandlers({ retentionTasksSeconds: 0 }).of('unheard-of')).toThrow(
      'no handler is registered for task type "unheard-of"',
    );
  });
});
