import type { EngineModel, InferenceEngine, ModelSpec, OpenOptions } from './inference-engine.js';

/** Stands in for an engine that exists only once the whole application does; a model that is opened before waits for it. */
export class AwaitedEngine implements InferenceEngine {
  private readonly arrival: Promise<InferenceEngine>;
  private arrived: InferenceEngine | null = null;
  private arrive: (engine: InferenceEngine) => void = () => undefined;

  constructor() {
    this.arrival = new Promise((resolve) => {
      this.arrive = resolve;
    });
  }

  use(engine: InferenceEngine): void {
    this.arrived = engine;
    this.arrive(engine);
  }

  get name(): string {
    return this.arrived?.name ?? 'none yet';
  }

  async open(spec: ModelSpec, options?: OpenOptions): Promise<EngineModel> {
    return (await this.arrival).open(spec, options);
  }
}
