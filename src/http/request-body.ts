import type { IncomingMessage } from 'node:http';
import { DomainError } from '../errors/index.js';
import { invalidJson } from './json.js';

export interface BodyLimits {
  maxBodyBytes: number;
  bodyTimeoutSeconds: number;
}

/** Whether the request announces a body at all (RFC 9112 6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Whether the body is a form, as far as its header says. */
export function announcesForm({ headers }: IncomingMessage): boolean {
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  return type.trim().toLowerCase() === 'application/x-www-form-urlencoded' && !headers['content-encoding'];
}

/** Throws unsupported_media_type unless the body is plain UTF-8 JSON, uncompressed: a bomb is never unpacked. */
export function requireJson({ headers }: IncomingMessage): void {
  const [type = '', ...parameters] = (headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  if (type !== 'application/json' || !['utf-8', '"utf-8"', undefined].includes(charset)) {
    throw unsupported('Send the body as JSON in UTF-8, with Content-Type: application/json.');
  }
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') throw unsupported('Send the body uncompressed, without Content-Encoding.');
}

/**
 * The bytes of the body. Rejects with request_too_large beyond the limit (announced or not) and with invalid_json when
 * the body breaks off or has not arrived in time. What was not read is thrown away by node until its request time-out.
 */
export function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limits.maxBodyBytes) return Promise.reject(tooLarge(limits));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (outcome: () => void): void => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      outcome();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limits.maxBodyBytes) settle(() => reject(tooLarge(limits)));
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, size)));
    const onClose = (): void => settle(() => reject(invalidJson('The body broke off.')));
    const late = `The body did not arrive within ${limits.bodyTimeoutSeconds} seconds.`;
    const timer = setTimeout(() => settle(() => reject(invalidJson(late))), limits.bodyTimeoutSeconds * 1000);
    request.on('data', onData).once('end', onEnd).once('close', onClose);
    // An aborted request emits an error; the close that follows is what settles.
    request.on('error', () => undefined);
  });
}

function tooLarge({ maxBodyBytes }: BodyLimits): DomainError {
  return new DomainError('request_too_large', `The body may have at most ${maxBodyBytes} bytes.`);
}

function unsupported(message: string): DomainError {
  return new DomainError('unsupported_media_type', message);
}
