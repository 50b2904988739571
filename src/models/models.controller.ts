import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { RequireScope } from '../clients/index.js';
import { bodyOf } from '../http/index.js';
import { DescribeRoute, Tag, whenDescribed } from '../openapi/index.js';
import { LoadModelDto } from './dto/load-model.dto.js';
import { NameModelDto } from './dto/name-model.dto.js';
import { ModelCatalogue } from './model-catalogue.js';
import type { ModelObject } from './model-object.js';
import type { ModelRecord } from './model-record.js';
import { MODEL, MODEL_LIST } from './model-schema.js';
import { ModelResidency } from './model-residency.js';

/** The models routes of WIRE B2. */
@Tag('Models')
@Controller('v1/models')
export class ModelsController {
  constructor(
    private readonly catalogue: ModelCatalogue,
    private readonly residency: ModelResidency,
  ) {}

  @Get()
  @RequireScope('models:read')
  @DescribeRoute({
    id: 'listModels',
    summary: 'Lists the models; loads none',
    answers: { 200: { description: 'All of them', schema: MODEL_LIST } },
  })
  async list(): Promise<{ object: 'list'; data: ModelObject[] }> {
    const records = await this.catalogue.list();
    return { object: 'list', data: await Promise.all(records.map((record) => this.show(record))) };
  }

  /** A wildcard, since ids such as `org/name` hold a slash; the router gives its decoded segments. */
  @Get('*id')
  @RequireScope('models:read')
  @whenDescribed(({ ApiParam }) =>
    ApiParam({
      name: 'id',
      description: 'May hold slashes, as they are or percent-encoded',
      schema: { type: 'string' },
    }),
  )
  @DescribeRoute({
    id: 'getModel',
    summary: 'Reads a model',
    answers: { 200: { description: 'The model', schema: MODEL } },
    errors: ['model_not_found'],
  })
  async read(@Param('id') segments: string[]): Promise<ModelObject> {
    return this.show(await this.catalogue.get(segments.join('/')));
  }

  @Post('load')
  @HttpCode(200)
  @RequireScope('models:manage')
  @DescribeRoute({
    id: 'loadModel',
    summary: 'Loads a model, and waits until it is loaded',
    description: 'Waits for memory where others have to go first. Takes a model out of quarantine.',
    body: bodyOf(LoadModelDto),
    answers: { 200: { description: 'The model', schema: MODEL } },
    errors: ['model_not_found', 'model_load_failed', 'insufficient_resources', 'model_unavailable'],
  })
  async load(@Body() body: LoadModelDto): Promise<ModelObject> {
    const { id } = await this.catalogue.get(body.model);
    await this.residency.load(id, body.keep_alive_seconds ?? null);
    return this.show(await this.catalogue.get(id));
  }

  @Post('unload')
  @HttpCode(200)
  @RequireScope('models:manage')
  @DescribeRoute({
    id: 'unloadModel',
    summary: 'Unloads a model that nothing runs on',
    body: bodyOf(NameModelDto),
    answers: { 200: { description: 'The model', schema: MODEL } },
    errors: ['model_not_found', 'model_in_use'],
  })
  async unload(@Body() body: NameModelDto): Promise<ModelObject> {
    const { id } = await this.catalogue.get(body.model);
    await this.residency.unload(id);
    return this.show(await this.catalogue.get(id));
  }

  private async show(record: ModelRecord): Promise<ModelObject> {
    return this.catalogue.toWire(record, await this.residency.live(record.id));
  }
}
