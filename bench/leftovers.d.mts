export type LeftoverState = 'queued' | 'loading' | 'running' | 'cancelling';
export type LeftoverPolicy = 'fail' | 'retry' | 'resume';

export interface LeftoverCell {
  state: LeftoverState;
  policy: LeftoverPolicy;
  background: boolean;
}

export const STATES: readonly LeftoverState[];
export const POLICIES: readonly LeftoverPolicy[];
export function everyCell(i: number): LeftoverCell;
export function writeLeftovers(dataDir: string, count: number, cell: (i: number) => LeftoverCell): Promise<void>;
export function countByStatus(dataDir: string): Promise<Record<string, number>>;
