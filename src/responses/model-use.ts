import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ModelRegistry } from '../models/index.js';
import { hasUnfinishedTasks } from '../tasks/index.js';

/** Keeps models from being deleted while unfinished tasks name them (WIRE B4). */
@Injectable()
export class ModelUse implements OnModuleInit {
  constructor(private readonly registry: ModelRegistry) {}

  onModuleInit(): void {
    this.registry.keepWhile(hasUnfinishedTasks);
  }
}
