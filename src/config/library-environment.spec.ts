import { describe, expect, it } from 'vitest';
import { libraryEnvironment } from './library-environment.js';

describe("the environment of the models' processes", () => {
  it('has what libraries are found by, and nothing else', () => {
    const env = {
      PATH: '/bin',
      LMSP_TOKEN: 'secret',
      LD_LIBRARY_PATH: '/usr/local/cuda/lib64',
      CUDA_VISIBLE_DEVICES: '1',
    };
    expect(libraryEnvironment(env)).toEqual({ LD_LIBRARY_PATH: '/usr/local/cuda/lib64', CUDA_VISIBLE_DEVICES: '1' });
    expect(libraryEnvironment({})).toEqual({});
  });
});
