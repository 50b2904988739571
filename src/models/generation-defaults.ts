import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import type { ModelRecord } from './model-record.js';

/** How a model wants its tokens drawn where a request does not say (WIRE B3). Values as in SamplingParameters. */
export interface GenerationDefaults {
  temperature: number;
  topK: number;
  topP: number;
  minP: number;
  repetitionPenalty: number;
  /** Token ids are below it; null where the model's files do not say. */
  vocabularySize: number | null;
}

/** Files kept in memory. */
const CAPACITY = 64;

/** Reads `generation_config.json`, `config.json` and `genai_config.json` of models, once for each digest. */
@Injectable()
export class GenerationDefaultsReader {
  private readonly known = new Map<string, Promise<GenerationDefaults>>();

  /** What the file does not say is 1 or off. An absent or unreadable file says nothing. */
  of({ directory, digest }: Pick<ModelRecord, 'directory' | 'digest'>): Promise<GenerationDefaults> {
    const key = `${digest ?? ''} ${directory}`;
    const known = this.known.get(key);
    if (known) return known;
    if (this.known.size >= CAPACITY) this.known.clear();
    const text = (file: string): Promise<string> => readFile(join(directory, file), 'utf8').catch(() => '{}');
    const files = ['generation_config.json', 'config.json', 'genai_config.json'].map(text);
    const reading = Promise.all(files).then(([generation, model, genai]) => defaultsIn(generation!, model, genai));
    this.known.set(key, reading);
    return reading;
  }
}

/** Defaults as the texts of `generation_config.json` and `config.json` state them. `do_sample: false` means greedy. */
export function defaultsIn(generation: string, model = '{}', genai = '{}'): GenerationDefaults {
  const { search, model: described } = parsed(genai) as { search?: object; model?: { vocab_size?: unknown } };
  // What transformers reads goes first: it is there in folders that have both.
  const stated: Record<string, unknown> = generation === '{}' ? { ...search } : parsed(generation);
  const vocabulary = parsed(model)['vocab_size'] ?? described?.vocab_size;
  const number = (key: string, fallback: number): number => {
    const value = stated[key];
    return typeof value === 'number' && Number.isFinite(value) ? value : fallback;
  };
  return {
    temperature: stated['do_sample'] === false ? 0 : number('temperature', 1),
    topK: number('top_k', 0),
    topP: number('top_p', 1),
    minP: number('min_p', 0),
    repetitionPenalty: number('repetition_penalty', 1),
    vocabularySize: Number.isSafeInteger(vocabulary) ? (vocabulary as number) : null,
  };
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
