import type { EngineModelInfo, GenerationRequest, ModelSpec } from './inference-engine.js';
import type { TurnReport } from './generation/turn-report.js';

/** The first message to any runner. */
export interface OpenMessage<Spec> {
  kind: 'open';
  spec: Spec;
}

/** What any runner says while it opens its model. */
export type OpeningMessage<Info> =
  | { kind: 'progress'; fraction: number }
  | { kind: 'ready'; info: Info }
  /** The model cannot be opened; the runner ends. */
  | { kind: 'refused'; message: string };

/** Messages between the service and a runner of a text model; `advanced` serialisation, in order, in both directions. */
export type ToRunner =
  | OpenMessage<ModelSpec>
  | { kind: 'generate'; request: GenerationRequest }
  | { kind: 'cancel'; id: string }
  /** Others may run beside it. */
  | { kind: 'share'; id: string }
  /** [generation, index]: its steps 0..index are on disk. */
  | { kind: 'acknowledge'; steps: [string, number][] };

export type FromRunner =
  | OpeningMessage<EngineModelInfo>
  /** One for one or several turns (ReportOutbox). `received`: messages taken in so far, `open` left out; `prefixBytes`: kept of earlier prompts. */
  | { kind: 'report'; report: TurnReport; received: number; prefixBytes: number };
