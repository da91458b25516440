import type { JsonObject } from '../../../json/json-value.ts'
import type { ModelListEntry } from '../../shared/listed-model.ts'

/** The format demands a day of release, which the catalog does not have. */
const RELEASED_AT = '1970-01-01T00:00:00Z'

/** `GET /v1/models`: one page. */
export function encodeModelList(models: readonly ModelListEntry[]): JsonObject {
  return {
    data: models.map(toModel),
    has_more: false,
    first_id: models.at(0)?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
  }
}

/** `GET /v1/models/{model}`. */
export function toModel(listed: ModelListEntry): JsonObject {
  const name = 'targets' in listed ? listed.id : listed.model.display_name
  return { type: 'model', id: listed.id, display_name: name, created_at: RELEASED_AT }
}
