import type { Refusal } from '../../core/refusal.ts'

/** Refuses a parameter that a target does not support. `target` names it: `the provider groq`. */
export function toUnsupportedRefusal(param: string, target: string): Refusal {
  const message = `${param}: ${target} does not support this parameter. With the environment's setting unsupported_params = drop it is left out.`
  return { code: 'invalid_request', message, param }
}
