import type { JsonObject } from '../../../json/json-value.ts'
import type { ModelListEntry } from '../../shared/listed-model.ts'

/** One entry of `GET /v1/models`. When a model was made is not known here. */
export function toModel(listed: ModelListEntry): JsonObject {
  const owner = 'targets' in listed ? 'alias' : listed.owner
  return { id: listed.id, object: 'model', created: 0, owned_by: owner }
}
