import { decodeError } from '@rideau/llm/formats/shared/decode-error'
import type { JsonObject } from '@rideau/llm/json/json-value'
import type { Provider } from '@rideau/llm/provider/provider'
import { authorizeRequest } from '@rideau/llm/upstream/authorize-request'
import { joinAddress } from '@rideau/llm/upstream/join-address'
import type { EgressPolicy } from '../../http/egress.ts'
import { guardedGet } from '../../http/guarded-get.ts'
import type { GuardedAnswer } from '../../http/guarded-request.ts'
import { findTokenExchange } from '../../identity/find-token-exchange.ts'
import { CREDENTIAL_REJECTED, type CredentialValidation } from '../../storage/credential-validation.ts'

const NO_BODY = Buffer.alloc(0)
const MAX_ANSWER_BYTES = 1024 * 1024
const MAX_MODELS = 5_000
const MAX_NAME = 256

type Outcome = Pick<CredentialValidation, 'error' | 'models'>

export interface CheckedCredential {
  readonly provider: Provider
  readonly baseUrl: string
  readonly apiKey: string
  readonly options?: JsonObject
}

/**
 * Calls the provider's cheapest route that asks for the key, which travels as in any request to it. What the provider
 * says is judged, never repeated. `nowMs`: Unix milliseconds, for providers whose requests are signed.
 */
export async function checkCredential(
  credential: CheckedCredential,
  policy: EgressPolicy,
  timeoutMs: number,
  nowMs: number,
): Promise<Outcome> {
  const { provider, baseUrl } = credential
  // The sandbox calls nobody, and takes any key.
  if (provider.sandbox === true) return { error: null, models: undefined }
  const token = await findToken(credential, policy, nowMs)
  if ('error' in token) return { error: token.error, models: undefined }
  // A key that was exchanged for a token is good; such a provider may have no list of what it serves.
  if (provider.keyCheckPath === null) return { error: null, models: undefined }
  const request = {
    method: 'GET' as const,
    ...joinAddress(baseUrl, provider.keyCheckPath ?? provider.modelsPath ?? '/models'),
    headers: { accept: 'application/json', ...provider.headers },
    body: NO_BODY,
  }
  authorizeRequest(request, { ...credential, ...token, model: '' }, nowMs)
  const answer = await guardedGet(`${request.origin}${request.path}`, {
    headers: request.headers,
    policy,
    timeoutMs,
    maxBytes: MAX_ANSWER_BYTES,
  })
  // The provider knows who asks, and grants no more than the calls themselves: the key is good.
  if (provider.auth === 'aws' && lacksRight(answer)) return { error: null, models: undefined }
  const error = findError(answer)
  if (error !== null || !answer.ok) return { error, models: undefined }
  // A key that was taken is good, also where the list is too large for us to read, or the route gives none.
  if (answer.isCut || provider.keyCheckPath !== undefined) return { error: null, models: undefined }
  const models = findModels(answer.body)
  return models === undefined
    ? { error: 'The address did not answer with a list of models.', models }
    : { error, models }
}

/** The token that the key is exchanged for, where its provider takes one. */
async function findToken(
  credential: CheckedCredential,
  policy: EgressPolicy,
  now: number,
): Promise<{ readonly accessToken?: string } | { readonly error: string }> {
  const answer = await findTokenExchange(credential)?.(credential, { policy, now })
  if (answer === undefined) return {}
  if (answer.ok) return { accessToken: answer.value.token }
  const { kind } = answer.error
  if (kind === 'auth') return { error: CREDENTIAL_REJECTED }
  return { error: kind === 'timeout' ? UNREACHED.timeout : 'No access token could be had for this key.' }
}

const UNREACHED = {
  refused: 'The address of this credential is not allowed here.',
  timeout: 'The provider did not answer in time.',
  unreachable: 'The provider could not be reached.',
}

/** Only of an identity that it has recognised does AWS tell which right it lacks. */
function lacksRight(answer: GuardedAnswer): boolean {
  return answer.ok && answer.status === 403 && answer.body.includes('is not authorized to perform')
}

function findError(answer: GuardedAnswer): string | null {
  if (!answer.ok) return UNREACHED[answer.reason]
  const { status } = answer
  if (status >= 200 && status < 300) return null
  if (status === 401 || status === 403) return CREDENTIAL_REJECTED
  // Some refuse a key with another status, and say so in words.
  if (status < 500 && decodeError(status, {}, answer.body.toString('utf8')).kind === 'auth')
    return CREDENTIAL_REJECTED
  if (status >= 300 && status < 400) return 'The address redirects, and redirects are not followed.'
  if (status === 429) return 'The provider limits the rate of requests right now; validate again later.'
  return `The provider answered with the status ${status}.`
}

/**
 * Ids of `{ data: [{ id }] }`, as OpenAI has it, of `{ models: [{ name }] }`, of `{ modelSummaries: [{ modelId }] }`, or of the bare list that some answer with;
 * undefined: none of them.
 */
function findModels(body: Buffer): string[] | undefined {
  let answer: unknown
  try {
    answer = JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
  const list = isObject(answer) ? (answer.data ?? answer.models ?? answer.modelSummaries ?? null) : answer
  // A server without a model answers with null in the list's place.
  if (list === null && isObject(answer) && ('data' in answer || 'models' in answer)) return []
  if (!Array.isArray(list)) return undefined
  const ids = new Set<string>()
  for (const entry of list) {
    const id =
      isObject(entry) && isServed(entry) ? (entry.id ?? entry.modelId ?? toId(entry.name)) : undefined
    if (isModelName(id)) ids.add(id)
    if (ids.size === MAX_MODELS) break
  }
  return [...ids]
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A resource's name begins with its collection. */
function toId(name: unknown): unknown {
  return typeof name === 'string' ? name.replace(/^models\//, '') : name
}

const CALLED = ['generateContent', 'embedContent', 'predict', 'chat', 'embed']

/** Where a list says what each can be called for: does it name a call that the gateway makes? */
function isServed({ supportedGenerationMethods, endpoints }: Record<string, unknown>): boolean {
  const methods = supportedGenerationMethods ?? endpoints
  if (!Array.isArray(methods)) return true
  return CALLED.some(method => methods.includes(method))
}

/** What PostgreSQL can store and a request can name. */
function isModelName(id: unknown): id is string {
  return typeof id === 'string' && id.length >= 1 && id.length <= MAX_NAME && /^[^\p{Cc}\p{Cs}]+$/u.test(id)
}
