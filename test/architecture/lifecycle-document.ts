import {
  TASK_TRANSITIONS,
  TERMINAL_STATUSES,
  type TaskCommand,
  type Transition,
} from '../../src/tasks/task-transitions.js';

/** What each command is about; the rest of the document is the table itself. */
const TRIGGERS: Record<TaskCommand, string> = {
  enqueue: 'a create was accepted',
  startLoading: 'claimed, its model is not loaded',
  start: 'claimed, its model is loaded',
  startLoaded: 'the model has been loaded',
  failLoading: 'the load failed, or a foreground task met the end of the stop grace',
  complete: 'end token, stop string or the handler’s own end',
  completeIncomplete: 'output limit',
  fail: 'error of the engine, time limit, output that cannot be stored, foreground at the end of the stop grace',
  cancelQueued: 'cancel, or the foreground client is gone',
  requestCancel: 'cancel, or the foreground client is gone',
  confirmCancel: 'the work has stopped, however it ended',
  failQueued: 'waited too long, foreground when the service stops',
  failUnowned: 'cannot be taken up again',
  requeueLost: 'its model process died; it may run again',
  interruptLost: 'its model process died; it can be resumed',
  reloadLost: 'what loaded its model died; the load goes on',
  recoverFail: 'recovery: policy fail, or foreground',
  recoverRetry: 'recovery: policy retry, or loading',
  recoverResume: 'recovery: policy resume',
  recoverCancel: 'recovery',
  takeUp: 'a runner takes an unowned task up',
};

function mermaid(): string {
  const edges = Object.entries(TASK_TRANSITIONS as Record<TaskCommand, Transition>).flatMap(([command, row]) =>
    (row.from.length === 0 ? ['[*]'] : row.from).map((from) => `    ${from} --> ${row.to}: ${command}`),
  );
  const ends = TERMINAL_STATUSES.map((status) => `    ${status} --> [*]`);
  return ['```mermaid', 'stateDiagram-v2', ...edges, ...ends, '```'].join('\n');
}

function table(): string {
  const rows = Object.entries(TASK_TRANSITIONS as Record<TaskCommand, Transition>).map(([command, row]) => {
    const effects = [
      row.owner === 'set' ? 'owner set' : row.owner === 'clear' ? 'owner cleared' : '',
      row.raisesAttempt ? 'attempt + 1' : '',
      row.startsOver ? 'output begins anew' : '',
      row.unownedOnly ? 'only unowned' : '',
      row.fenced ? 'only by its attempt and owner' : '',
    ].filter(Boolean);
    const cells = [
      String(row.row),
      `\`${command}\``,
      TRIGGERS[command as TaskCommand],
      row.from.join(', ') || '–',
      row.to,
      row.events.map((event) => `\`${event}\``).join(', ') || '–',
      effects.join('; ') || '–',
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| row | command | when | from | to | events | effects |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

/** The text of docs/task-lifecycle.md. */
export function renderLifecycle(): string {
  return `# The life of a task

Generated from \`src/tasks/task-transitions.ts\`; do not edit. Each row is one transaction: status, attempt, owner, last
sequence number, events and the stored response change together or not at all. A status that a row does not leave
refuses its command; terminal is final.

${table()}

${mermaid()}
`;
}
