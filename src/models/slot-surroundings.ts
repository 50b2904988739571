import type { GenerationFigures } from './metered-model.js';
import type { ModelMemory } from './model-memory.js';
import type { ProcessSurroundings } from './model-process.js';

export type UnloadReason = 'requested' | 'idle' | 'budget';

export interface SlotSurroundings extends ProcessSurroundings {
  /** Seats per incarnation; 0: none are given. */
  readonly rows: number;
  /** A loaded model is not sent away between two of its tasks for so long. Milliseconds. */
  readonly turnMs: number;
  readonly memory: Omit<ModelMemory, 'budgetBytes' | 'reservedBytes'>;
  /** How long the model stays loaded when nobody uses it and no request wished otherwise; -1: for ever. */
  keepAliveSeconds(modelId: string): number;
  unloaded(modelId: string, reason: UnloadReason): void;
  /** Its process died too often: nothing is to be loaded until a person says so. */
  quarantined(modelId: string): void;
  generated(modelId: string, figures: GenerationFigures): void;
  /** A seat that was refused to the claim side may be had now. */
  seatFree(modelId: string): void;
}
