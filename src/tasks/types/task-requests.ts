import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../../config/index.js';
import { newIdentifier } from '../../database/index.js';
import { DomainError } from '../../errors/index.js';
import type { KeyedRequest } from '../../http/index.js';
import type { CreateTaskDto } from '../dto/create-task.dto.js';
import { metadataOf } from '../metadata.js';
import type { TaskDraft } from '../task-drafts.js';
import { TaskHandlers } from '../task-handlers.js';
import { taskPayload } from '../task-view.js';
import type { JsonObject } from '../task.js';
import { TaskTypes } from './task-types.js';

/** From a checked body to the task that it asks for; writes nothing. */
@Injectable()
export class TaskRequests {
  constructor(
    private readonly types: TaskTypes,
    private readonly handlers: TaskHandlers,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * Throws unsupported_value for a type that is not made here, request_too_large for the input, and what is wrong with
   * `input.<field>` or `metadata.<key>`.
   */
  prepare(dto: CreateTaskDto, clientId: string, keyed: KeyedRequest | null): TaskDraft {
    const type = this.types.find(dto.type);
    if (type === null) throw this.unsupported(dto.type);
    this.requireSize(dto.input);
    return {
      id: newIdentifier('task'),
      type: dto.type,
      clientId,
      responseId: null,
      model: null,
      onRestart: dto.on_restart ?? type.defaultOnRestart,
      background: true,
      input: { ...type.readInput(dto.input) },
      metadata: metadataOf(dto.metadata),
      maxInterruptions: this.config.maxInterruptions,
      view: (task) => taskPayload(task, this.config),
      ...(keyed && { keyed }),
    };
  }

  private requireSize(input: JsonObject): void {
    const bytes = Buffer.byteLength(JSON.stringify(input));
    const { maxTaskInputBytes: most } = this.config;
    if (bytes <= most) return;
    throw new DomainError('request_too_large', `'input' has ${bytes} bytes; ${most} are allowed.`, { param: 'input' });
  }

  private unsupported(type: string): DomainError {
    const route = this.handlers.find(type)?.createdBy;
    const known = this.types.names();
    const reason = route
      ? `Tasks of type '${type}' are made by ${route}.`
      : known.length === 0
        ? "No extension has a task type here, so 'type' can have no value."
        : `'type' must be one of ${known.join(', ')}.`;
    return new DomainError('unsupported_value', reason, { param: 'type' });
  }
}
