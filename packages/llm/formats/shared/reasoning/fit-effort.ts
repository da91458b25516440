import type { CatalogModel } from '../../../provider/catalog-model.ts'
import type { Provider } from '../../../provider/provider.ts'
import { findModelRule } from '../reading/model-rules.ts'

/** From the lowest to the highest. */
const EFFORTS: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/**
 * Returns the effort that a model of OpenAI's formats takes for one in Claude's words; undefined: none is named, so that the
 * model decides. `model`: undefined if the catalogue does not know it.
 */
export function fitEffort(
  effort: string,
  provider: Provider,
  model: CatalogModel | undefined,
): string | undefined {
  const listed = EFFORTS.filter(effort => model?.reasoning_efforts?.includes(effort) === true)
  if (listed.includes(effort)) return effort
  const levels = listed.filter(effort => effort !== 'none')
  if (effort === 'none') return model === undefined ? undefined : fitNone(provider, model, levels)
  if (effort !== 'xhigh' && effort !== 'max') return effort
  return levels.findLast(level => EFFORTS.indexOf(level) < EFFORTS.indexOf(effort)) ?? 'high'
}

function fitNone(
  { openai = {} }: Provider,
  { id }: CatalogModel,
  levels: readonly string[],
): string | undefined {
  const isTaken = Object.hasOwn(openai.reasoningEfforts ?? {}, 'none')
  if (isTaken && findModelRule(openai, id)?.alwaysReasons !== true) return 'none'
  // Some models that OpenRouter lists without `none` do not reason unasked: the lowest effort would make them.
  return openai.takesReasoning === true ? undefined : levels[0]
}
