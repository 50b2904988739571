export { configureApp, EDGE_OPTIONS } from './configure-app.js';
export { disconnection } from './connection.js';
export { IsTextOrList, Nested, Rule, Unsupported, UNSUPPORTED_VALUE } from './dto.js';
export { type EventFrame } from './event-stream.js';
export { EventStreams, type SendStream, type StreamKind, type StreamRequest } from './event-streams.js';
export { HttpModule } from './http.module.js';
export { listObject, type ListObject } from './list.js';
export { Cursor, ListOf, OneOf, parseCursor, QueryFields, SingleText, WholeNumber, type QueryOf } from './query.js';
