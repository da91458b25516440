import { authorizeRequest } from '@rideau/llm/authorize-request'
import { joinAddress } from '@rideau/llm/join-address'
import type { JsonObject, Provider } from '@rideau/llm/spec'
import type { EgressPolicy } from '../../http/egress.ts'
import { guardedGet } from '../../http/guarded-get.ts'
import type { GuardedAnswer } from '../../http/guarded-request.ts'
import { type CredentialCheck, REJECTED } from '../../storage/provider-credentials.ts'

const NO_BODY = Buffer.alloc(0)
const MAX_ANSWER_BYTES = 1024 * 1024
const MAX_MODELS = 5_000
const MAX_NAME = 256

type Outcome = Pick<CredentialCheck, 'error' | 'models'>

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
  const request = {
    ...joinAddress(baseUrl, provider.keyCheckPath ?? provider.modelsPath ?? '/models'),
    headers: { accept: 'application/json', ...provider.headers },
    body: NO_BODY,
  }
  authorizeRequest(request, { ...credential, model: '' }, nowMs)
  const answer = await guardedGet(`${request.origin}${request.path}`, {
    headers: request.headers,
    policy,
    timeoutMs,
    maxBytes: MAX_ANSWER_BYTES,
  })
  const error = findError(answer)
  if (error !== null || !answer.ok) return { error, models: undefined }
  // A key that was taken is good, also where the list is too large for us to read, or the route gives none.
  if (answer.isCut || provider.keyCheckPath !== undefined) return { error: null, models: undefined }
  const models = findModels(answer.body)
  return models === undefined
    ? { error: 'The address did not answer with a list of models.', models }
    : { error, models }
}

const UNREACHED = {
  refused: 'The address of this credential is not allowed here.',
  timeout: 'The provider did not answer in time.',
  unreachable: 'The provider could not be reached.',
}

function findError(answer: GuardedAnswer): string | null {
  if (!answer.ok) return UNREACHED[answer.reason]
  const { status } = answer
  if (status >= 200 && status < 300) return null
  if (status === 401 || status === 403) return REJECTED
  if (status >= 300 && status < 400) return 'The address redirects, and redirects are not followed.'
  if (status === 429) return 'The provider limits the rate of requests right now; validate again later.'
  return `The provider answered with the status ${status}.`
}

/** Ids of `{ data: [{ id }] }`, as OpenAI has it, or of the bare list that some answer with; undefined: neither. */
function findModels(body: Buffer): string[] | undefined {
  let answer: unknown
  try {
    answer = JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
  const list = typeof answer === 'object' && answer !== null && 'data' in answer ? answer.data : answer
  // A server without a model answers with null in the list's place.
  if (list === null) return []
  if (!Array.isArray(list)) return undefined
  const ids = new Set<string>()
  for (const entry of list) {
    const id: unknown = typeof entry === 'object' && entry !== null ? entry.id : undefined
    if (isModelName(id)) ids.add(id)
    if (ids.size === MAX_MODELS) break
  }
  return [...ids]
}

/** What PostgreSQL can store and a request can name. */
function isModelName(id: unknown): id is string {
  return typeof id === 'string' && id.length >= 1 && id.length <= MAX_NAME && /^[^\p{Cc}\p{Cs}]+$/u.test(id)
}
