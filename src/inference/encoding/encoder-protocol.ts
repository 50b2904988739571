import type { ErrorCode } from '../../errors/index.js';
import type { OpeningMessage, OpenMessage } from '../runner-protocol.js';
import type { Encoded, EncoderInfo, EncoderSpec, EncodingRequest } from './encoding-engine.js';

/** Messages between the service and an encoder's process; `advanced` serialisation, in order, in both directions. */
export type ToEncoder =
  OpenMessage<EncoderSpec> | { kind: 'encode'; id: string; request: EncodingRequest } | { kind: 'cancel'; id: string };

export type FromEncoder =
  | OpeningMessage<EncoderInfo>
  /** One per turn, also where it holds nothing: a sign of life. */
  | ({ kind: 'turn' } & EncoderTurn);

/** What happened in one turn. */
export interface EncoderTurn {
  /** [request, index of the text, its result]. */
  encoded: [string, number, Encoded][];
  failed: [string, EncodingFailure][];
}

/** Why a request has ended without its results. */
export interface EncodingFailure {
  code: ErrorCode;
  message: string;
  /** Of the text at fault; null: none in particular. */
  index: number | null;
}
