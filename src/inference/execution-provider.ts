/** What computes a model: the processor, or a graphics card through the runtime's CUDA library. */
export const EXECUTION_PROVIDERS = ['cpu', 'cuda'] as const;
export type ExecutionProvider = (typeof EXECUTION_PROVIDERS)[number];

export interface ProviderChoice {
  name: ExecutionProvider;
  /** Of the card; has no meaning for the processor. */
  deviceId: number;
  /** The processor stands in where the provider cannot be had; else the load fails. */
  fallback: boolean;
}

export const ON_CPU: ProviderChoice = { name: 'cpu', deviceId: 0, fallback: false };

/** What a loaded model really runs on. */
export interface ProviderUse {
  used: ExecutionProvider;
  /** Why it is not what was asked for; null: it is. */
  reason: string | null;
}
