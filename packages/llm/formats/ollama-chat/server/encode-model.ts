import { createHash } from 'node:crypto'
import type { JsonObject } from '../../../json/json-value.ts'
import type { ModelListEntry } from '../../shared/listed-model.ts'

/** The format demands when a model's files were changed; there are none here. */
const NEVER = '1970-01-01T00:00:00Z'

/** `POST /api/show`. */
export function encodeModelDetails(listed: ModelListEntry): JsonObject {
  const context = 'targets' in listed ? null : listed.model.context_window
  return {
    modelfile: '',
    parameters: '',
    template: '',
    details: toDetails(listed),
    model_info: {
      'general.architecture': 'rideau',
      ...(context === null ? {} : { 'rideau.context_length': context }),
    },
    capabilities: listCapabilities(listed),
    modified_at: NEVER,
  }
}

/** One entry of `GET /api/tags`. */
export function toModel(listed: ModelListEntry): JsonObject {
  const { id } = listed
  return {
    name: id,
    model: id,
    modified_at: NEVER,
    size: 0,
    // Of the name: there are no files that it could be of.
    digest: createHash('sha256').update(id).digest('hex'),
    details: toDetails(listed),
  }
}

function toDetails(listed: ModelListEntry): JsonObject {
  const family = 'targets' in listed ? 'alias' : listed.provider
  return {
    parent_model: '',
    format: '',
    family,
    families: [family],
    parameter_size: '',
    quantization_level: '',
  }
}

/** The format's name for each capability. */
const WORDS: Readonly<Record<string, string>> = {
  chat: 'completion',
  tools: 'tools',
  vision: 'vision',
  reasoning: 'thinking',
  embeddings: 'embedding',
}

function listCapabilities(listed: ModelListEntry): string[] {
  const models = 'targets' in listed ? listed.targets : [listed]
  const all = new Set(models.flatMap(({ model }) => model.capabilities))
  return [...all].map(name => WORDS[name]).filter(word => word !== undefined)
}
