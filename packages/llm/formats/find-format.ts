import type { ChatRequest, DialectId, DialectRule, Provider, SurfaceId } from '../spec.ts'

/** The format in which a request goes to a provider's model: by the provider's rules, else its main one. */
export function findDialectId(
  provider: Provider,
  model: string,
  request: Pick<ChatRequest, 'tools' | 'reasoningEffort'>,
  surface: SurfaceId,
): DialectId {
  for (const rule of provider.dialectRules ?? []) {
    if (isMeant(rule, model) && isCalledFor(rule, request, surface)) return rule.dialect
  }
  return provider.dialect
}

function isMeant({ models }: DialectRule, model: string): boolean {
  return models === undefined || matchesAny(model, models)
}

function isCalledFor(
  { when, dialect }: DialectRule,
  { tools, reasoningEffort }: Pick<ChatRequest, 'tools' | 'reasoningEffort'>,
  surface: SurfaceId,
): boolean {
  if (when === 'same-format') return dialect === surface
  if (when === undefined) return true
  return tools !== undefined && tools.length > 0 && reasoningEffort !== undefined
}

/** Is a model's name one of these, in which `*` stands for any text? */
export function matchesAny(name: string, patterns: readonly string[]): boolean {
  return patterns.some(pattern => matches(name, pattern))
}

/** Piece by piece from the left, so that no pattern takes more than linear time. */
function matches(name: string, pattern: string): boolean {
  const pieces = pattern.split('*')
  const first = pieces[0] as string
  const last = pieces[pieces.length - 1] as string
  if (pieces.length === 1) return name === pattern
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
    return false
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = name.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return at <= name.length - last.length
}
