export { limitedAddress } from './caller-address.js';
export { CallerPolicy } from './caller-policy.js';
export { configureApp, EDGE_OPTIONS, edgeOptions } from './configure-app.js';
export { disconnection } from './connection.js';
export { bodyOf, IsTextOrList, Nested, Rule, Unsupported, UNSUPPORTED_VALUE, type DtoVariants } from './dto.js';
export { readDto } from './dto.pipe.js';
export { sendError } from './error-answer.js';
export { SharedFrames, type EventFrame } from './event-frame.js';
export { EventStreams, STREAM_KINDS, type SendStream, type StreamKind, type StreamRequest } from './event-streams.js';
export { HttpModule } from './http.module.js';
export { fingerprintOf, type KeyedRequest } from './idempotency-key.js';
export { Idempotent, Keyed, type RepeatAnswers } from './idempotent.js';
export { listObject, listSchema, type ListObject } from './list.js';
export { OAuthBody } from './oauth-body.js';
export {
  Cursor,
  ListOf,
  OneOf,
  pageFields,
  parseCursor,
  QueryFields,
  SingleText,
  WholeNumber,
  type QueryOf,
} from './query.js';
export { RateLimiter, type RateLimiterOptions } from './rate-limiter.js';
export { UNMATCHED_ROUTE } from './request-context.js';
export { routePatterns } from './route-methods.js';
export { TlsCertificate } from './tls-certificate.js';
export { tooManyRequests } from './too-many-requests.js';
