import { alwaysThinks, refusesForcedCalls } from '../../shared/claude/claude-limits.ts'

/** What a generation of models takes and refuses. Source: docs/providers.md, "Anthropic". */
export interface ModelTraits {
  /** Takes a JSON schema in `output_config.format`, and `strict` of tools. */
  readonly hasJsonSchema: boolean
  /** How the model is asked to think: by effort, by a budget of tokens, or not at all. */
  readonly thinking: 'adaptive' | 'budget' | 'none'
  /** Thinks unless the request turns it off. */
  readonly thinksByDefault: boolean
  /** Cannot be kept from thinking. */
  readonly alwaysThinks: boolean
  /** Refuses a forced call of a tool, whether it thinks or not. */
  readonly refusesForcedCalls: boolean
  readonly efforts: readonly string[]
  /** Takes `temperature` and `top_p`. */
  readonly hasSampling: boolean
  /** Refuses `temperature` beside `top_p`. */
  readonly samplesByOne: boolean
  /** Takes messages of the role `system` within the conversation, at Anthropic itself; older models answer 400. */
  readonly takesSystemTurns: boolean
  /** The output cap if the catalogue has none. */
  readonly maxOutputTokens: number
}

const EFFORTS = ['low', 'medium', 'high', 'max']
const EFFORTS_WITH_XHIGH = ['low', 'medium', 'high', 'xhigh', 'max']

/** The version of a model whose name tells none: a recent one, so that the provider decides about its parameters. */
const UNKNOWN_VERSION = 406

/** Finds the traits by the model's name, because no API returns them. */
export function toModelTraits(model: string): ModelTraits {
  const version = findVersion(model) ?? UNKNOWN_VERSION
  return {
    hasJsonSchema: version >= 405 || (version === 401 && model.includes('opus')),
    thinking: version >= 406 ? 'adaptive' : version >= 307 ? 'budget' : 'none',
    thinksByDefault: version >= 500,
    alwaysThinks: alwaysThinks(model),
    refusesForcedCalls: refusesForcedCalls(model),
    efforts: version >= 407 ? EFFORTS_WITH_XHIGH : EFFORTS,
    hasSampling: version < 407,
    samplesByOne: version >= 401,
    takesSystemTurns: version >= 408,
    maxOutputTokens: toOutputCap(version, model),
  }
}

function toOutputCap(version: number, model: string): number {
  if (version < 305) return 4096
  if (version < 307) return 8192
  if (version < 405 && model.includes('opus')) return 32_000
  return 64_000
}

/**
 * 405 for `claude-sonnet-4-5-20250929`, 305 for `claude-3-5-haiku-latest`, 200 for `claude-2`; prefixes and suffixes of
 * cloud providers are ignored. undefined: the name has no version.
 */
function findVersion(model: string): number | undefined {
  const found =
    /claude-[a-z]+-(\d)(?:[-.](\d{1,2}))?(?!\d)/.exec(model) ??
    /claude-(?:v|instant-v?)?(\d)(?:[-.](\d{1,2}))?(?!\d)/.exec(model)
  if (found === null) return undefined
  return Number(found[1]) * 100 + Number(found[2] ?? 0)
}
