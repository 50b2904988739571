export { CreateResponseDto, LOGPROBS } from './dto/create-response.dto.js';
export { SamplingDto } from './dto/sampling.dto.js';
export { EphemeralResponses } from './ephemeral-responses.js';
export { successOf } from './foreground-responses.js';
export { ModelAnswers, type ModelAnswer, type ModelQuestion } from './model-answers.js';
export type { ResponseObject, ResponseUsage } from './response-object.js';
export { ResponseRequests } from './response-requests.js';
export type { ResponseDraft } from './response-store.js';
export { ResponsesModule, type ResponsesModuleOptions } from './responses.module.js';
