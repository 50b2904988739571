import { Inject, Injectable, type Type } from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import { RouteAccesses } from '../clients/index.js';
import { extensionVariable } from '../config/index.js';
import type { Extension } from '../extension.js';
import { Notices } from '../notices/index.js';
import { tableOf } from './claims.js';
import { moduleClassOf } from './extension-module.js';
import { EXTENSIONS } from './extension-parts.js';

/** Which extensions there are, and what each brings. */
@Injectable()
export class LoadedExtensions {
  constructor(
    @Inject(EXTENSIONS) private readonly extensions: readonly Extension[],
    private readonly routes: RouteAccesses,
    private readonly modules: ModulesContainer,
    private readonly notices: Notices,
    private readonly part: ModuleRef,
  ) {}

  /** One notice for each, at the start. */
  tell(): void {
    for (const extension of this.extensions) this.tellOf(extension);
  }

  private tellOf(extension: Extension): void {
    const { name, version, compatibleWith, entities = [], strategies = {}, scopes = {}, configKeys = {} } = extension;
    const { taskTypes = [], recorders = [], listeners = [] } = extension;
    this.notices.emit('extension.loaded', {
      extension: name,
      version,
      compatible_with: compatibleWith,
      task_types: listed(taskTypes.map((type) => this.part.get(type, { strict: false }).type)),
      tables: listed(entities.map((entity) => tableOf(entity) ?? entity.name)),
      routes: listed(this.routesOf(moduleClassOf(extension))),
      strategies: listed(Object.entries(strategies).flatMap(([strategy, part]) => (part ? [strategy] : []))),
      scopes: listed(Object.keys(scopes)),
      hooks: listed([...recorders, ...listeners].map((hook) => hook.name)),
      settings: listed(Object.keys(configKeys).map((key) => extensionVariable(name, key))),
    });
  }

  private routesOf(module: Type): string[] {
    const own = [...this.modules.values()].filter(({ metatype }) => metatype === module);
    const controllers = own.flatMap((each) => [...each.controllers.values()].map(({ metatype }) => metatype));
    return this.routes
      .all()
      .filter(({ controller }) => controllers.includes(controller as Type))
      .map(({ method, path }) => `${method} ${path}`);
  }
}

function listed(names: readonly string[]): string | null {
  return names.length === 0 ? null : names.join(', ');
}
