/** Name, type and shape of a graph input or output; -1 stands for a dimension that is free. */
export interface TensorSlot {
  name: string;
  type: string;
  shape: number[];
}
