import type { EngineModelInfo, GenerationRequest, ModelSpec } from './inference-engine.js';
import type { TurnReport } from './generation/scheduler.js';

/** Messages between the service and a runner; `advanced` serialisation, in order, in both directions. */
export type ToRunner =
  /** Once, first. */
  | { kind: 'open'; spec: ModelSpec }
  | { kind: 'generate'; request: GenerationRequest }
  | { kind: 'cancel'; id: string }
  /** Others may run beside it. */
  | { kind: 'share'; id: string }
  /** [generation, index]: its steps 0..index are on disk. */
  | { kind: 'acknowledge'; steps: [string, number][] };

export type FromRunner =
  | { kind: 'progress'; fraction: number }
  | { kind: 'ready'; info: EngineModelInfo }
  /** The model cannot be opened; the runner ends. */
  | { kind: 'refused'; message: string }
  /** One per turn. `received`: messages taken in so far, `open` left out. */
  | { kind: 'report'; report: TurnReport; received: number };
