/** What a generation of models takes and refuses (wire facts §0.10, §1.3). */
export interface ModelTraits {
  /** `output_config.format` with a JSON schema. */
  readonly hasJsonSchema: boolean
  /** How it is asked to think: by effort, by a budget of tokens, or not at all. */
  readonly thinking: 'adaptive' | 'budget' | 'none'
  /** Thinks unless told not to. */
  readonly thinksByDefault: boolean
  readonly efforts: readonly string[]
  /** Takes `temperature` and `top_p`. */
  readonly hasSampling: boolean
  /** Refuses `temperature` beside `top_p`. */
  readonly samplesByOne: boolean
  /**
   * Takes the role `system` in the conversation, at its maker's own interface (Claude Opus 4.8 and newer, by their
   * documents; older ones answer 400).
   */
  readonly takesSystemTurns: boolean
  /** Output cap where the catalogue knows none. */
  readonly maxOutputTokens: number
}

const EFFORTS = ['low', 'medium', 'high', 'max']
const EFFORTS_WITH_XHIGH = ['low', 'medium', 'high', 'xhigh', 'max']

/** A model that we cannot place is taken for a recent one: the provider knows better than we do. */
const UNPLACED = 406

/** By the model's name, since every generation has rules of its own and no list tells them. */
export function findModelTraits(model: string): ModelTraits {
  const version = findVersion(model) ?? UNPLACED
  return {
    hasJsonSchema: version >= 405 || (version === 401 && model.includes('opus')),
    thinking: version >= 406 ? 'adaptive' : version >= 307 ? 'budget' : 'none',
    thinksByDefault: version >= 500,
    efforts: version >= 407 ? EFFORTS_WITH_XHIGH : EFFORTS,
    hasSampling: version < 407,
    samplesByOne: version >= 401,
    takesSystemTurns: version >= 408,
    maxOutputTokens: findOutputCap(version, model),
  }
}

function findOutputCap(version: number, model: string): number {
  if (version < 305) return 4096
  if (version < 307) return 8192
  if (version < 405 && model.includes('opus')) return 32_000
  return 64_000
}

/**
 * 405 for `claude-sonnet-4-5-20250929`, 305 for `claude-3-5-haiku-latest`, 200 for `claude-2`; prefixes and suffixes of
 * cloud providers do not matter. undefined: the name tells no version.
 */
function findVersion(model: string): number | undefined {
  const found =
    /claude-[a-z]+-(\d)(?:[-.](\d{1,2}))?(?!\d)/.exec(model) ??
    /claude-(?:v|instant-v?)?(\d)(?:[-.](\d{1,2}))?(?!\d)/.exec(model)
  if (found === null) return undefined
  return Number(found[1]) * 100 + Number(found[2] ?? 0)
}
