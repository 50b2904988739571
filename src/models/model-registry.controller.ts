import { Body, Controller, Delete, Param, Post } from '@nestjs/common';
import { RequestOrigin, type Origin } from '../audit/index.js';
import { RequireScope } from '../clients/index.js';
import { bodyOf } from '../http/index.js';
import { deletedObject, DescribeRoute, Tag, whenDescribed } from '../openapi/index.js';
import { RegisterModelDto } from './dto/register-model.dto.js';
import { ModelCatalogue } from './model-catalogue.js';
import { NEVER_LOADED, type ModelObject } from './model-object.js';
import { ModelRegistry, type Registration } from './model-registry.js';
import { MODEL } from './model-schema.js';

/** The routes by which models come and go (WIRE B2). */
@Tag('Models')
@Controller('v1/models')
export class ModelRegistryController {
  constructor(
    private readonly registry: ModelRegistry,
    private readonly catalogue: ModelCatalogue,
  ) {}

  @Post()
  @RequireScope('models:manage')
  @DescribeRoute({
    id: 'registerModel',
    summary: 'Registers a model from a folder on the machine of the service',
    description: 'Its files are read and hashed behind the answer: its state tells when, and whether it can be used.',
    body: bodyOf(RegisterModelDto),
    answers: { 201: { description: 'The model', schema: MODEL } },
    errors: ['model_exists', 'unsupported_value', 'storage_busy', 'storage_full'],
  })
  async register(@Body() body: RegisterModelDto, @RequestOrigin() origin: Origin): Promise<ModelObject> {
    return this.catalogue.toWire(await this.registry.register(registrationOf(body), origin), NEVER_LOADED);
  }

  @Delete('*id')
  @RequireScope('models:manage')
  @whenDescribed(({ ApiParam }) =>
    ApiParam({
      name: 'id',
      description: 'May hold slashes, as they are or percent-encoded',
      schema: { type: 'string' },
    }),
  )
  @DescribeRoute({
    id: 'deleteModel',
    summary: 'Forgets a model; its files stay',
    description: 'Not one that is shipped with the service, that is loading, or that unfinished tasks name.',
    answers: { 200: { description: 'It is forgotten', schema: deletedObject('model') } },
    errors: ['model_not_found', 'model_in_use', 'storage_busy', 'storage_full'],
  })
  async delete(
    @Param('id') segments: string[],
    @RequestOrigin() origin: Origin,
  ): Promise<{ id: string; object: 'model'; deleted: true }> {
    return { id: await this.registry.delete(segments.join('/'), origin), object: 'model', deleted: true };
  }
}

function registrationOf(body: RegisterModelDto): Registration {
  return {
    id: body.id,
    type: body.type,
    directory: body.source.path,
    dtype: body.dtype ?? null,
    layout: body.layout ?? null,
    activations: body.activations ?? null,
    executionProvider: body.execution_provider ?? null,
    deviceId: body.device_id ?? null,
    contextLength: body.context_length ?? null,
    aliases: body.aliases ?? [],
    pinned: body.pinned ?? false,
    keepAliveSeconds: body.keep_alive_seconds ?? null,
  };
}
