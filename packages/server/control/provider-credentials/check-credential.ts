import { decodeError } from '@rideau/llm/formats/shared/errors/decode-error'
import { ANSWER_BOUNDS } from '@rideau/llm/json/body-bounds'
import type { JsonBounds } from '@rideau/llm/json/json-bounds'
import type { JsonObject } from '@rideau/llm/json/json-value'
import type { Provider } from '@rideau/llm/provider/provider'
import { authorizeRequest } from '@rideau/llm/upstream/authorize-request'
import { joinAddress } from '@rideau/llm/upstream/join-address'
import { parseLongJson, parseShortAnswer } from '../../http/body/parse-json.ts'
import type { EgressPolicy } from '../../http/egress/egress.ts'
import { guardedGet } from '../../http/egress/guarded-get.ts'
import type { GuardedAnswer } from '../../http/egress/guarded-request.ts'
import { findTokenExchange } from '../../identity/find-token-exchange.ts'
import { CREDENTIAL_REJECTED, type CredentialValidation } from '../../storage/models/credential-validation.ts'

const NO_BODY = Buffer.alloc(0)
const MAX_ANSWER_BYTES = 1024 * 1024
/** A longer explanation of an error is not read. */
const MAX_ERROR_BYTES = 64 * 1024
const MAX_MODELS = 5_000
const MAX_NAME = 256
/** The most bytes of all names in one list. Every worker holds them. */
const MAX_NAMES_BYTES = 64 * 1024

export type CheckOutcome = Pick<CredentialValidation, 'error' | 'models'>

export interface CheckedCredential {
  readonly provider: Provider
  readonly baseUrl: string
  readonly apiKey: string
  readonly options?: JsonObject
}

/**
 * Checks a key with the cheapest route of its provider that requires one; the key is sent as in any other request.
 * Returns an error text that never repeats the provider's response, and the models that the key can use. `nowMs`: Unix
 * milliseconds, for providers whose requests are signed. `signal` ends the request early, as if it had timed out.
 */
export async function checkCredential(
  credential: CheckedCredential,
  policy: EgressPolicy,
  timeoutMs: number,
  nowMs: number,
  signal?: AbortSignal,
): Promise<CheckOutcome> {
  const { provider, baseUrl } = credential
  // The sandbox calls no host and accepts any key.
  if (provider.sandbox === true) return { error: null, models: undefined }
  const token = await exchangeToken(credential, policy, nowMs)
  if ('error' in token) return { error: token.error, models: undefined }
  // A key that was exchanged for a token is valid. Such a provider may have no list of models.
  if (provider.keyCheckPath === null) return { error: null, models: undefined }
  const request = {
    method: 'GET' as const,
    ...joinAddress(baseUrl, provider.keyCheckPath ?? provider.modelsPath ?? '/models'),
    headers: { accept: 'application/json', ...provider.headers },
    body: NO_BODY,
  }
  authorizeRequest(request, { ...credential, ...token, model: '' }, nowMs, null)
  const answer = await guardedGet(`${request.origin}${request.path}`, {
    headers: request.headers,
    policy,
    timeoutMs,
    maxBytes: MAX_ANSWER_BYTES,
    ...(signal === undefined ? {} : { signal }),
  })
  // AWS recognised the identity, so the key is valid; it only lacks the right to list models.
  if (provider.auth === 'aws' && lacksRight(answer)) return { error: null, models: undefined }
  const error = findError(answer)
  if (error !== null || !answer.ok) return { error, models: undefined }
  // The provider accepted the key. It stays valid if the list is too large to read or the route returns none.
  if (answer.isCut || provider.keyCheckPath !== undefined) return { error: null, models: undefined }
  const models = findModels(await parseList(answer.body))
  return models === undefined
    ? { error: 'The address did not answer with a list of models.', models }
    : { error, models }
}

/** Returns the token that the key is exchanged for, if the provider uses one. */
async function exchangeToken(
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

export const UNREACHED = {
  refused: 'The address of this credential is not allowed here.',
  timeout: 'The provider did not answer in time.',
  unreachable: 'The provider could not be reached.',
}

/** AWS names a missing right only for an identity that it has recognised. */
function lacksRight(answer: GuardedAnswer): boolean {
  return answer.ok && answer.status === 403 && answer.body.includes('is not authorized to perform')
}

function findError(answer: GuardedAnswer): string | null {
  if (!answer.ok) return UNREACHED[answer.reason]
  const { status } = answer
  if (status >= 200 && status < 300) return null
  if (status === 401 || status === 403) return CREDENTIAL_REJECTED
  // Some providers reject a key with another status and an explanation in the body.
  const text = answer.body.length > MAX_ERROR_BYTES ? '' : answer.body.toString('utf8')
  if (status < 500 && decodeError(status, {}, text).kind === 'auth') return CREDENTIAL_REJECTED
  if (status >= 300 && status < 400) return 'The address redirects, and redirects are not followed.'
  if (status === 429) return 'The provider limits the rate of requests right now; validate again later.'
  return `The provider answered with the status ${status}.`
}

/** A list of a thousand models with all that is said of them. */
const LIST_BOUNDS: JsonBounds = { ...ANSWER_BOUNDS, maxParts: 131_072 }

/** Returns what the provider answered; undefined for what is not JSON within bounds. A long answer takes its turns in the event loop. */
async function parseList(body: Buffer): Promise<unknown> {
  try {
    const { value } = parseShortAnswer(body) ?? (await parseLongJson(body, LIST_BOUNDS, () => undefined))
    return value
  } catch {
    return undefined
  }
}

/**
 * Returns the ids in `{ data: [{ id }] }` (OpenAI), `{ models: [{ name }] }`, `{ modelSummaries: [{ modelId }] }` or a
 * bare list; undefined for any other body.
 */
function findModels(answer: unknown): string[] | undefined {
  if (answer === undefined) return undefined
  const list = isObject(answer) ? (answer.data ?? answer.models ?? answer.modelSummaries ?? null) : answer
  // A server without models returns null in place of the list.
  if (list === null && isObject(answer) && ('data' in answer || 'models' in answer)) return []
  if (!Array.isArray(list)) return undefined
  const ids = new Set<string>()
  let room = MAX_NAMES_BYTES
  for (const entry of list) {
    const id =
      isObject(entry) && isServed(entry) ? (entry.id ?? entry.modelId ?? toId(entry.name)) : undefined
    if (!isModelName(id) || ids.has(id)) continue
    room -= Buffer.byteLength(id)
    if (room < 0) break
    ids.add(id)
    if (ids.size === MAX_MODELS) break
  }
  return [...ids]
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Removes the collection that precedes the name of a resource. */
function toId(name: unknown): unknown {
  return typeof name === 'string' ? name.replace(/^models\//, '') : name
}

const CALLED = ['generateContent', 'embedContent', 'predict', 'chat', 'embed']

/** True unless the list names the methods of the model and the gateway uses none of them. */
function isServed({ supportedGenerationMethods, endpoints }: Record<string, unknown>): boolean {
  const methods = supportedGenerationMethods ?? endpoints
  if (!Array.isArray(methods)) return true
  return CALLED.some(method => methods.includes(method))
}

/** True if PostgreSQL can store the name and a request can contain it. */
function isModelName(id: unknown): id is string {
  return typeof id === 'string' && id.length >= 1 && id.length <= MAX_NAME && /^[^\p{Cc}\p{Cs}]+$/u.test(id)
}
