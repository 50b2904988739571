import type { Config } from '../config/index.js';
import type { Activations, ProviderChoice } from '../inference/index.js';
import type { ModelRecord } from './model-record.js';

/** How a model is computed: as it was registered, else by the settings. */
export interface Computation {
  activations: Activations;
  provider: ProviderChoice;
}

/** A graphics card has kernels of its own: there the levels of the file hold (ENGINE 2.9). */
export function computationOf(
  record: Pick<ModelRecord, 'activations' | 'executionProvider' | 'deviceId'>,
  config: Pick<Config, 'activations' | 'executionProvider' | 'cudaDevice' | 'providerFallback'>,
): Computation {
  const name = record.executionProvider ?? config.executionProvider;
  const deviceId = name === 'cuda' ? (record.deviceId ?? config.cudaDevice) : 0;
  return {
    activations: name === 'cpu' ? (record.activations ?? config.activations) : 'file',
    provider: { name, deviceId, fallback: config.providerFallback === 'cpu' },
  };
}
