import { Inject, Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Authentication } from '../clients/index.js';
import { StartRefused } from '../errors/index.js';
import type { Extension, ExtensionStrategies } from '../extension.js';
import { INFERENCE_ENGINE, AwaitedEngine } from '../inference/index.js';
import { ModelSources } from '../pulls/index.js';
import { RetentionRules } from '../retention/index.js';
import { AdmissionControl, TaskListeners, TaskRecorders, TaskTypes } from '../tasks/index.js';
import { refusedExtension } from './check-extensions.js';

export const EXTENSIONS = Symbol('Extensions');

/** Puts what extensions bring in its place, once all of it exists and before the port opens. */
@Injectable()
export class ExtensionParts implements OnModuleInit {
  constructor(
    @Inject(EXTENSIONS) private readonly extensions: readonly Extension[],
    private readonly modules: ModuleRef,
  ) {}

  onModuleInit(): void {
    for (const extension of this.extensions) {
      try {
        this.place(extension);
      } catch (error) {
        if (error instanceof StartRefused) throw error;
        throw new StartRefused([refusedExtension(extension, (error as Error).message)], { cause: error });
      }
    }
  }

  private place({ name, strategies = {}, ...parts }: Extension): void {
    const { taskTypes = [], recorders = [], listeners = [], retentionRules = [] } = parts;
    for (const type of taskTypes) this.of(TaskTypes).register(name, this.of(type));
    for (const recorder of recorders) this.of(TaskRecorders).register(name, this.of(recorder));
    for (const listener of listeners) this.of(TaskListeners).register(name, this.of(listener));
    for (const rule of retentionRules) this.of(RetentionRules).register(this.of(rule), `extension ${name}`);
    this.replace(name, strategies);
  }

  private replace(name: string, strategies: ExtensionStrategies): void {
    const { authenticator, admissionPolicy, inferenceEngine, modelSource } = strategies;
    if (authenticator) this.of(Authentication).use({ name, authenticator: this.of(authenticator) });
    if (admissionPolicy) this.of(AdmissionControl).use(this.of(admissionPolicy));
    if (inferenceEngine)
      this.modules.get<AwaitedEngine>(INFERENCE_ENGINE, { strict: false }).use(this.of(inferenceEngine));
    if (modelSource) this.of(ModelSources).use(this.of(modelSource));
  }

  private of<T>(part: Type<T>): T {
    return this.modules.get(part, { strict: false });
  }
}
