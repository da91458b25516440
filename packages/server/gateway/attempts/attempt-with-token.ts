import type { Target } from '@rideau/llm/upstream/target'
import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import type { TokenResult } from '../../identity/token-exchange.ts'
import type { RequestContext } from '../request/request-context.ts'
import { waitFor } from '../request/wait-for.ts'
import type { AccessTokens } from '../upstream/access-tokens.ts'
import type { AttemptDeps } from './attempt-deps.ts'
import type { AttemptResult } from './attempt-result.ts'

/**
 * One try, with an access token where the provider takes one. A kept token that is refused, as after a revocation, is
 * exchanged once more within the same try.
 */
export function attemptWithToken<T>(
  ctx: RequestContext,
  credentialId: string,
  target: Target,
  attempt: (target: Target) => Promise<AttemptResult<T>>,
  { accessTokens }: AttemptDeps,
): Promise<AttemptResult<T>> {
  const found = accessTokens.find(credentialId, target)
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
  const renewed = accessTokens.find(credentialId, target)
  if (renewed === undefined) return await attempt(target)
  const answer = typeof renewed === 'string' ? renewed : await waitFor(ctx, renewed)
  if (typeof answer !== 'string' && !answer.ok) return answer
  const accessToken = typeof answer === 'string' ? answer : answer.value.token
  return hideToken(await attempt({ ...target, accessToken }), accessToken)
}

function hideToken<T>(result: AttemptResult<T>, token: string): AttemptResult<T> {
  return result.ok ? result : { ...result, error: withoutSecret(result.error, token, '[token]') }
}

/** Some providers repeat the key they refuse; from here on their words go to our log. */
export function withoutSecret(error: UpstreamError, secret: string, mark: string): UpstreamError {
  if (secret === '' || !error.detail.includes(secret)) return error
  return { ...error, detail: error.detail.replaceAll(secret, mark) }
}
