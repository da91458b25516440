import type { Justification } from '../explain-differences.ts'

const NAMED = 'Newer servers match results with calls by these; older ones pass them over.'

/** Why what the gateway sends to Ollama differs from what it was recorded to take. */
export const JUSTIFIED: readonly Justification[] = [
  { path: '/messages/*/tool_calls/*/id', why: NAMED },
  { path: '/messages/*/tool_call_id', why: NAMED },
  { path: '/messages/*/tool_name', why: NAMED },
]
