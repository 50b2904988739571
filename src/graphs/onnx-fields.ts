/** Field numbers of the ONNX wire format (onnx.proto), as far as they are read or written here. */
export const MODEL = { graph: 7, function: 25 } as const;
export const GRAPH = { node: 1, initializer: 5, input: 11, output: 12 } as const;
export const NODE = { input: 1, output: 2, operator: 4, attribute: 5, domain: 7 } as const;
export const FUNCTION = { node: 7, domain: 10 } as const;
export const ATTRIBUTE = { name: 1, integer: 3, tensor: 5, graph: 6, tensors: 10, graphs: 11, type: 20 } as const;
export const TENSOR = { dimension: 1, type: 2, name: 8, raw: 9, external: 13, location: 14 } as const;
export const VALUE = { name: 1, type: 2 } as const;
export const VALUE_TYPE = { tensor: 1 } as const;
export const TENSOR_TYPE = { element: 1 } as const;
/** Of a StringStringEntryProto. */
export const ENTRY = { key: 1, value: 2 } as const;

export const INTEGER_ATTRIBUTE = 2;
export const INT64 = 7;
export const EXTERNAL_LOCATION = 1;
