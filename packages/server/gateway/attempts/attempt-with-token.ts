import type { Target } from '@rideau/llm/upstream/target'
import type { TokenResult } from '../../identity/token-exchange.ts'
import type { RequestContext } from '../request/request-context.ts'
import { waitFor } from '../request/wait-for.ts'
import type { AccessTokens } from '../upstream/access-tokens.ts'
import type { AttemptDeps } from './attempt-deps.ts'
import type { AttemptResult } from './attempt-result.ts'
import { redactSecret } from './redact-secrets.ts'

/**
 * One attempt, with an access token if the provider needs one. If the provider rejects a cached token, for example
 * after a revocation, the key is exchanged once more within the same attempt.
 */
export function attemptWithToken<T>(
  ctx: RequestContext,
  credentialId: string,
  target: Target,
  attempt: (target: Target) => Promise<AttemptResult<T>>,
  { accessTokens }: AttemptDeps,
): Promise<AttemptResult<T>> {
  const found = accessTokens.find(credentialId, target, ctx)
  if (found === undefined) return attempt(target)
  return attemptExchanged(ctx, credentialId, target, attempt, accessTokens, found)
}

async function attemptExchanged<T>(
  ctx: RequestContext,
  credentialId: string,
  target: Target,
  attempt: (target: Target) => Promise<AttemptResult<T>>,
  accessTokens: AccessTokens,
  found: string | Promise<TokenResult>,
): Promise<AttemptResult<T>> {
  if (typeof found === 'string') {
    const result = await attempt({ ...target, accessToken: found })
    if (result.ok || result.error.status !== 401 || ctx.stopped !== undefined) return hideToken(result, found)
    accessTokens.drop(credentialId, found)
  }
  const renewed = accessTokens.find(credentialId, target, ctx)
  if (renewed === undefined) return await attempt(target)
  const answer = typeof renewed === 'string' ? renewed : await waitFor(ctx, renewed)
  if (typeof answer !== 'string' && !answer.ok) return answer
  const accessToken = typeof answer === 'string' ? answer : answer.value.token
  return hideToken(await attempt({ ...target, accessToken }), accessToken)
}

function hideToken<T>(result: AttemptResult<T>, token: string): AttemptResult<T> {
  if (!result.ok) return { ...result, error: redactSecret(result.error, token, '[token]') }
  return result.model?.includes(token) === true ? { ...result, model: undefined } : result
}
