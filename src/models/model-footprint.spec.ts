import { expect, it } from 'vitest';
import { weightsMemoryBytes } from './model-footprint.js';

const FILES = [
  { path: 'onnx/model.onnx', sizeBytes: 1000 },
  { path: 'onnx/model.onnx_data', sizeBytes: 5000 },
  { path: 'tokenizer.json', sizeBytes: 9000 },
];

it.each([
  ['are mapped from the graph file as from those beside it (decision 0007)', true, 4800],
  ['within are read and held where the graph is opened as its file has it', false, 5250],
])('weights %s', (_, isEdited, bytes) => {
  expect(weightsMemoryBytes('onnx/model.onnx', FILES, isEdited)).toBe(bytes);
});
