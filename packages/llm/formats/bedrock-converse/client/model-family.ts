/** The maker of a model, and for Amazon's its generation: what Converse takes depends on it. */
export type ModelFamily = 'claude' | 'nova' | 'nova-2' | 'gpt-oss' | 'other'

/** Finds the family by a model id, the id of an inference profile (`us.anthropic.claude-…`) or the ARN of one. */
export function toModelFamily(model: string): ModelFamily {
  if (/\bclaude-/.test(model)) return 'claude'
  if (/\bnova-2-/.test(model)) return 'nova-2'
  if (/\bnova-/.test(model)) return 'nova'
  if (/\bgpt-oss-/.test(model)) return 'gpt-oss'
  return 'other'
}

/** Returns 4.6 for `claude-opus-4-6-v1`, 3.7 for `claude-3-7-sonnet-20250219-v1:0`; 0: not Claude, or older than Claude 3. */
export function toClaudeVersion(model: string): number {
  const named = /\bclaude-(?:[a-z]+-(\d{1,2})(?:-(\d{1,2}))?|(\d{1,2})(?:-(\d{1,2}))?-[a-z]+)(?![0-9])/.exec(
    model,
  )
  if (named === null) return 0
  const [, major = named[3] ?? '0', minor = named[4] ?? '0'] = named
  return Number(`${major}.${minor}`)
}

/** True for models that can be forced to call a named tool. */
export function canForceTool(model: string): boolean {
  const family = toModelFamily(model)
  return family === 'claude' || family === 'nova' || family === 'nova-2'
}

/** True for models that can be forced to call some tool. */
export function canRequireTools(model: string): boolean {
  return canForceTool(model) || /\bmistral\./.test(model)
}

/** True for models that take a JSON schema for the answer (`outputConfig.textFormat`). */
export function takesSchemas(model: string): boolean {
  if (toModelFamily(model) === 'claude')
    return toClaudeVersion(model) >= 4.5 || /\bclaude-opus-4-1\b/.test(model)
  return /\b(?:mistral-large-3|ministral-3|magistral-small|qwen3|minimax-m2|kimi-k2|nemotron|gemma-3|gpt-oss|deepseek\.v3)/.test(
    model,
  )
}

/** True for models that take cache points; others refuse a request with one. */
export function takesCachePoints(model: string): boolean {
  const family = toModelFamily(model)
  return family === 'nova' || family === 'nova-2' || toClaudeVersion(model) >= 3.5
}
