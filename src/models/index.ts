export { KeepAliveField } from './keep-alive.js';
export { GenerationDefaultsReader, type GenerationDefaults } from './generation-defaults.js';
export { ModelCatalogue } from './model-catalogue.js';
export { type ModelObject, type ModelRuntime } from './model-object.js';
export { type ModelRecord, type ModelState, type ModelType } from './model-record.js';
export { ModelRegistry } from './model-registry.js';
export { ModelResidency } from './model-residency.js';
export { type ModelSeat } from './model-seat.js';
export { ModelsModule, type ModelsModuleOptions } from './models.module.js';
