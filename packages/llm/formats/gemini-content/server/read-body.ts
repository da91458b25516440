import type { JsonObject } from '../../../json/json-value.ts'
import { invalid, optionalText } from '../../shared/reading/read-fields.ts'
import { RequestError } from '../../shared/reading/request-error.ts'
import { MAX_NAMES, spellCamel } from '../wire/spell-camel.ts'

/** Returns a body in camel case. Throws if a field stands in it in both spellings, or if it has too many different ones. */
export function spell(given: JsonObject): JsonObject {
  const spelled = spellCamel(given)
  if ('body' in spelled) return spelled.body
  if ('crowded' in spelled) {
    const most = MAX_NAMES.toLocaleString('en-US')
    throw invalid(
      spelled.crowded,
      `is not read: beside those in arguments and schemas a body has at most ${most} different names of fields.`,
    )
  }
  const { doubled } = spelled
  const message = `${doubled}: stands in the body in both spellings.`
  throw new RequestError('request_validation_failed', message, { param: doubled })
}

/**
 * Some clients name the model in the body too; the model of the path is the authorized one. `path`: of the object that
 * names it, with a dot at its end.
 */
export function assertSameModel(body: JsonObject, model: string, path = ''): void {
  const named = optionalText(body, 'model', `${path}model`)
  if (named === undefined || named.replace(/^models\//, '') === model) return
  throw invalid(`${path}model`, 'contradicts the path.')
}
