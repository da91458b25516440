import type { JsonObject } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { Provider } from '../../../provider/provider.ts'

/** How a model is asked to think: by a level, or by a number of tokens. */
export type Thinking =
  | { readonly by: 'level'; readonly levels: readonly string[] }
  | { readonly by: 'budget'; readonly min: number; readonly max: number }

const LEVELS = ['minimal', 'low', 'medium', 'high'] as const
const FLASH_BUDGET = { by: 'budget', min: 0, max: 24_576 } as const
/** These models always think. */
const PRO_BUDGET = { by: 'budget', min: 128, max: 32_768 } as const

/** How a model thinks, by the catalogue and its name; undefined: it does not. Source: docs/providers.md, "Gemini". */
export function findThinking(provider: Provider, model: string): Thinking | undefined {
  const known = provider.catalog?.models.find(({ id }) => id === model)
  if (known !== undefined && !known.capabilities.includes('reasoning')) return undefined
  const version = /^gemini-(\d+)(?:\.(\d+))?-/.exec(model)
  const major = Number(version?.[1] ?? 0)
  const minor = Number(version?.[2] ?? 0)
  if (major === 2 && minor === 5) {
    return model.startsWith('gemini-2.5-pro') ? PRO_BUDGET : FLASH_BUDGET
  }
  if (known?.reasoning_efforts !== undefined) return { by: 'level', levels: known.reasoning_efforts }
  if (major >= 3) return { by: 'level', levels: listLevels(model, major, minor) }
  // Names such as gemini-flash-latest stand for the newest model.
  if (known !== undefined || /^gemini-[a-z-]*latest$/.test(model)) return { by: 'level', levels: LEVELS }
  return undefined
}

function listLevels(model: string, major: number, minor: number): readonly string[] {
  if (model.startsWith('gemini-3-pro')) return ['low', 'high']
  const isPro = model.includes('-pro')
  // Flash models take `minimal` before 3.7 only.
  return isPro || major > 3 || minor >= 7 ? LEVELS.slice(1) : LEVELS
}

/** Tokens of an effort, as Google's own OpenAI-format address has them. */
const BUDGETS: Readonly<Record<string, number>> = toTable({ none: 0, minimal: 1024, low: 1024, medium: 8192 })

/** `thinkingConfig` for an effort. A level that the model does not have becomes the next higher one, else the highest. */
export function encodeThinking(effort: string, thinking: Thinking): JsonObject {
  const includeThoughts = effort !== 'none'
  if (thinking.by === 'budget') {
    const budget = BUDGETS[effort] ?? thinking.max
    const thinkingBudget = Math.min(Math.max(budget, thinking.min), thinking.max)
    return { thinkingBudget, includeThoughts }
  }
  const known = LEVELS.filter(level => thinking.levels.includes(level))
  const wanted = effort === 'none' ? 0 : LEVELS.findIndex(level => level === effort)
  const rank = wanted === -1 ? LEVELS.length - 1 : wanted
  const thinkingLevel = known.find(level => LEVELS.indexOf(level) >= rank) ?? known.at(-1) ?? 'high'
  return { thinkingLevel, includeThoughts }
}
