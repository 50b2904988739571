/** One place of the compiled service that a mutation changes. */
export interface Patch {
  /** Relative to `dist/src`. */
  file: string;
  /** Must be there exactly once: a mutation that no longer fits is an error, not a pass. */
  from: string;
  to: string;
}

export interface Mutation {
  /** What it breaks, in a sentence. */
  breaks: string;
  patches: Patch[];
  /** Rules of which at least one must be found broken. */
  rules: string[];
}

/** Services that are wrong on purpose: what the harness must find, or its silence means nothing. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'recovery-without-event': {
    breaks: 'recovery changes the status and appends no event (C2, C3, C4)',
    patches: [
      {
        file: 'tasks/lifecycle-events.js',
        from: '    await insertEvents(tx, [...logs]',
        to: "    if (!moved.some(({ command }) => command.startsWith('recover'))) await insertEvents(tx, [...logs]",
      },
    ],
    rules: ['C1', 'C2', 'C3', 'invariant 1'],
  },
  'gap-at-restart': {
    breaks: 'a task that is put back skips a sequence number (invariant 1)',
    patches: [
      {
        file: 'tasks/status-update.js',
        from: "['last_sequence_number = last_sequence_number + ?', transition.events.length]",
        to: "['last_sequence_number = last_sequence_number + ?', transition.events.length + (transition.row === 17 ? 1 : 0)]",
      },
    ],
    rules: ['invariant 1'],
  },
  'cancelled-completes': {
    breaks: 'a run that was cancelled may complete (R3)',
    patches: [
      {
        file: 'tasks/task-transitions.js',
        from: "row: 6,\n        from: ['running'],",
        to: "row: 6,\n        from: ['running', 'cancelling'],",
      },
      {
        file: 'tasks/task-end.js',
        from: 'this.lifecycle.confirmCancel(tx, claim.taskId, claim)',
        to: 'this.lifecycle.complete(tx, claim, null)',
      },
    ],
    rules: ['R3', 'B4'],
  },
  'answers-before-commit': {
    breaks: 'the 202 is sent before the task is on disk (R1)',
    patches: [
      {
        file: 'responses/response-acceptance.js',
        from: '        return this.batcher.submit(newRow(draft));',
        to: `        const row = newRow(draft);
        const stored = this.batcher.submit(row);
        if (!draft.body.background || draft.keyed) return stored;
        stored.catch(() => undefined);
        const { id, model } = draft.body;
        return Promise.resolve({ task: { id: taskIdOf(id), responseId: id, type: 'response', model, background: true }, repeated: false, body: row.body });`,
      },
    ],
    rules: ['R1'],
  },
  'tells-before-commit': {
    breaks: 'readers are told of events before the commit (invariant 8)',
    patches: [
      {
        file: 'tasks/task-journal.js',
        from: 'tx.afterCommit(() => this.feed.publish(taskId, events));',
        to: 'this.feed.publish(taskId, events);',
      },
    ],
    rules: ['invariant 8', 'invariant 9'],
  },
  'steps-without-claim': {
    breaks: 'a run writes on although its task was cancelled (R3, the fence of each write)',
    patches: [
      {
        file: 'tasks/step-writer.js',
        from: "AND tasks.status = 'running' AND tasks.attempt = v.attempt",
        to: 'AND tasks.attempt = v.attempt',
      },
    ],
    rules: ['B4', 'invariant 1'],
  },
  'resume-repeats-a-token': {
    breaks: 'a resumed run forgets the last token of its log and draws it again (invariant 11)',
    patches: [
      {
        file: 'responses/response-attempt.js',
        from: 'past?.tokens ?? []',
        to: '(past?.tokens ?? []).slice(0, -1)',
      },
      {
        file: 'responses/response-attempt.js',
        from: 'this.strayed = comparable(foldOutput([], payloads)) !== comparable(seen);',
        to: 'this.strayed = false;',
      },
    ],
    rules: ['invariant 11'],
  },
  'interruptions-forgotten': {
    breaks: 'recovery counts no interruption: nothing ends a crash loop (WIRE B6)',
    patches: [
      {
        file: 'tasks/task-recovery.js',
        from: 'interruptions: 1 }',
        to: 'interruptions: 0 }',
      },
    ],
    rules: ['B6'],
  },
};
