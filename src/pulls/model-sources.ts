import { Injectable } from '@nestjs/common';
import { HubAccess } from './hub-access.js';
import type { ModelSource } from './model-source.js';

/** Where models are pulled from: the hub of the settings, unless an extension brings a source of its own. */
@Injectable()
export class ModelSources {
  private source: ModelSource | null = null;

  constructor(private readonly hub: HubAccess) {}

  use(source: ModelSource): void {
    this.source = source;
  }

  /** For one pull: its token is read when it is first needed. */
  open(): ModelSource {
    return this.source ?? this.hub.open();
  }
}
