export { EDIT_VERSION, editGraph, SHORT_OUTPUT, type EditedGraph, type GraphEdits } from './edit-graph.js';
export { encoderLayout, rowsInterfere, type EncoderLayout } from './encoder-layout.js';
export { locationFault } from './external-file.js';
export { readGraph, type ExternalFile, type GraphFacts } from './read-graph.js';
export { type TensorSlot } from './tensor-slot.js';
export { textLayout, UnsupportedGraph, type CacheSlot, type IntegerType, type TextLayout } from './text-layout.js';
export { bytesField, numberField } from './wire-bytes.js';
