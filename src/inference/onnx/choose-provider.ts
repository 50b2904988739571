import { DomainError } from '../../errors/index.js';
import { bytesField, numberField } from '../../graphs/index.js';
import { ON_CPU, type ProviderChoice, type ProviderUse } from '../execution-provider.js';
import type { SessionFactory } from './session.js';

/** The provider to open a model with, and what the model object says of it. */
export interface ChosenProvider {
  provider: ProviderChoice;
  use: ProviderUse;
}

/**
 * Tries the provider with a graph of one operator, so that a missing library or device is told from a fault of the model.
 * Throws DomainError model_load_failed where it cannot be had and nothing may stand in.
 */
export async function chooseProvider(
  wanted: ProviderChoice | undefined,
  sessions: SessionFactory,
): Promise<ChosenProvider> {
  if (wanted === undefined || wanted.name === 'cpu') return { provider: ON_CPU, use: { used: 'cpu', reason: null } };
  try {
    await sessions.openNative({ bytes: probe(), folder: '/' }, { threads: 1, provider: wanted }).dispose();
    return { provider: wanted, use: { used: wanted.name, reason: null } };
  } catch (cause) {
    const reason = `${wanted.name} (device ${wanted.deviceId}) cannot be used: ${(cause as Error).message.trim()}`;
    if (wanted.fallback) return { provider: ON_CPU, use: { used: 'cpu', reason } };
    throw new DomainError('model_load_failed', `${reason}. ${REMEDY}`, { cause });
  }
}

const REMEDY =
  'Install its libraries (docs/operating.md, "Graphics cards"), or choose cpu by LMSP_EXECUTION_PROVIDER or the ' +
  "model's execution_provider, or let LMSP_PROVIDER_FALLBACK=cpu do so.";

/** `y = Identity(x)`, opset 13. */
function probe(): Buffer {
  const shape = bytesField(2, [bytesField(1, numberField(1, 1))]);
  const slot = (name: string): Buffer[] => [
    bytesField(1, name),
    bytesField(2, [bytesField(1, [numberField(1, 1), shape])]),
  ];
  const node = [bytesField(1, 'x'), bytesField(2, 'y'), bytesField(4, 'Identity')];
  const graph = [bytesField(1, node), bytesField(2, 'probe'), bytesField(11, slot('x')), bytesField(12, slot('y'))];
  return Buffer.concat([
    numberField(1, 8),
    bytesField(7, graph),
    bytesField(8, [bytesField(1, ''), numberField(2, 13)]),
  ]);
}
