/** The parts of the API's objects that the command line shows (WIRE B2, B4). Times are unix seconds. */
export interface ModelObject {
  id: string;
  owned_by: string;
  created: number;
  lmsp: {
    type: string;
    state: string;
    digest: string | null;
    size_bytes: number | null;
    context_length: number | null;
    loaded_at: number | null;
    pinned: boolean;
    memory_bytes: number | null;
    unloads_at: number | null;
    aliases: string[];
    error: { code: string; message: string } | null;
    activations: string;
    execution_provider: { requested: string; used: string | null };
    exact: { resume: boolean; batch_invariant: boolean } | null;
  };
}

export interface TaskObject {
  id: string;
  type: string;
  client_id: string;
  response_id: string | null;
  model: string | null;
  status: string;
  on_restart: string;
  background: boolean;
  attempt: number;
  interruptions: number;
  max_interruptions: number;
  last_sequence_number: number;
  queue_position: number | null;
  progress: { phase: string; load_fraction: number | null; prompt_tokens: number | null; output_tokens: number };
  error: { code: string; message: string } | null;
  created_at: number;
  updated_at: number;
  started_at: number | null;
  finished_at: number | null;
  cancel_requested_at: number | null;
  expires_at: number | null;
  poll_interval_ms: number;
}

export interface ServiceObject {
  id: string;
  version: string;
  lmsp_version: string;
  started_at: number;
  incarnation: number;
  degraded: string[];
}
