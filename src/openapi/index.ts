export { DescribeRoute, type AnswerDescription, type RouteDescription } from './describe-route.js';
export { describeApi, TOKEN_SCHEME } from './document.js';
export { Meaning, schemaOfDto, type NestedClasses } from './dto-schema.js';
export { deletedObject, ERROR } from './error-answers.js';
export {
  anything,
  boolean,
  constant,
  described,
  either,
  integer,
  listOf,
  mapOf,
  named,
  nullable,
  number,
  object,
  oneOfWords,
  text,
  unixSeconds,
  type Schema,
} from './schema.js';
export { serveDescription } from './serve-description.js';
export { Tag, whenDescribed } from './swagger.js';
