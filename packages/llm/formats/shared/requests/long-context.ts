import type { Json } from '../../../json/json-value.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import { listSettings } from './list-settings.ts'

/** Tokens that Claude reads at most where a beta raises its context window. */
export const LONG_CONTEXT = 1_000_000

const BETAS: ReadonlySet<string> = new Set(['anthropicbeta', 'betas'])
/** Betas that speak of the context and leave its length as it is. */
const OTHER_BETAS = /^(?:context-management-|model-context-window-exceeded-)/

/** Whether a request asks, in its headers or anywhere among its settings, for a beta that raises the context window. */
export function asksForLongContext({ headers, value }: Pick<SourceBody, 'headers' | 'value'>): boolean {
  const header = headers?.['anthropic-beta']
  if (header !== undefined && raisesWindow(header)) return true
  return listSettings(value, BETAS).some(({ value: betas }) =>
    Array.isArray(betas) ? betas.some(raisesWindow) : raisesWindow(betas),
  )
}

function raisesWindow(betas: Json | undefined): boolean {
  if (typeof betas !== 'string') return false
  return betas
    .toLowerCase()
    .split(',')
    .some(beta => beta.includes('context') && !OTHER_BETAS.test(beta.trim()))
}
