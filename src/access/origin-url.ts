import type { Request } from 'express';

/** The service as this caller names it; its Host has been checked. */
export function originUrl(request: Request): string {
  return `${request.protocol}://${request.get('host') ?? ''}`;
}
