import {
  assertKnownFields,
  invalid,
  listAt,
  optionalText,
  textAt,
} from '@rideau/llm/formats/shared/reading/read-fields'
import { BODY_LIMIT_BYTES } from '@rideau/llm/json/body-bounds'
import type { JsonObject } from '@rideau/llm/json/json-value'
import { Fault } from '../../core/fault.ts'
import { isUuid } from '../../core/ids.ts'
import { sendJson } from '../edge/send.ts'
import { readJson } from '../request/read-json.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { RouteDeps } from './route-deps.ts'

const FIELDS: ReadonlySet<string> = new Set(['request_id', 'score', 'comment', 'tags'])
const MAX_COMMENT = 1_000
const MAX_TAGS = 20
const MAX_TAG = 64
/** Half of a surrogate pair. */
const HALF_PAIR = /\p{Surrogate}/u
const WELL_FORMED = 'must be well-formed Unicode.'

export interface FeedbackInput {
  readonly requestId: string
  /** The score from -1 to 1. */
  readonly score: number
  readonly comment: string | null
  readonly tags: readonly string[]
}

/** `POST /v1/feedback`: stores a rating of an answer with the request's record. */
export async function serveFeedback(ctx: IdentifiedContext, deps: RouteDeps): Promise<void> {
  const { caller, environment } = ctx
  const { endUser } = caller
  const { value } = await readJson(ctx, BODY_LIMIT_BYTES, deps.bodyTimeoutMs)
  const given = parse(value)
  const createdAt = new Date(deps.now()).toISOString()
  // A client token can only rate requests of its own end user.
  const of = {
    orgId: environment.orgId,
    environmentId: environment.id,
    requestId: given.requestId,
    endUserId: endUser?.id ?? null,
  }
  const { score, comment, tags } = given
  const feedback = { score, comment, tags: [...tags], created_at: createdAt }
  const beforeFlush = (): void => deps.fanOutRates.take(ctx, deps.now())
  const storing = deps.storeFeedback(of, feedback, beforeFlush).catch(cause => {
    if (cause instanceof Fault) throw cause
    const message = 'The rating could not be stored right now. Try again shortly.'
    throw new Fault('config_unavailable', message, { cause, retryAfterSeconds: 1 })
  })
  if (!(await storing)) {
    throw new Fault('resource_not_found', 'request_id: there is no request with this id.', {
      param: 'request_id',
    })
  }
  sendJson(ctx, 201, { request_id: given.requestId, ...feedback })
}

function parse(body: JsonObject): FeedbackInput {
  assertKnownFields(body, FIELDS)
  const requestId = textAt(body.request_id, 'request_id')
  if (!isUuid(requestId)) throw invalid('request_id', 'must be a UUID.')
  const { score } = body
  if (typeof score !== 'number' || score < -1 || score > 1) {
    throw invalid('score', 'must be a number from -1 to 1.')
  }
  const comment = optionalText(body, 'comment') ?? null
  if (comment !== null && comment.length > MAX_COMMENT) {
    throw invalid('comment', `must have at most ${MAX_COMMENT} characters; got ${comment.length}.`)
  }
  if (comment !== null && HALF_PAIR.test(comment)) throw invalid('comment', WELL_FORMED)
  return { requestId: requestId.toLowerCase(), score, comment, tags: parseTags(body) }
}

function parseTags(body: JsonObject): readonly string[] {
  if (body.tags === undefined || body.tags === null) return []
  const tags = listAt(body.tags, 'tags')
  if (tags.length > MAX_TAGS)
    throw invalid('tags', `must have at most ${MAX_TAGS} entries; got ${tags.length}.`)
  return tags.map((tag, index) => {
    const text = textAt(tag, `tags[${index}]`)
    if (text === '' || text.length > MAX_TAG) {
      throw invalid(`tags[${index}]`, `must have 1 to ${MAX_TAG} characters; got ${text.length}.`)
    }
    if (HALF_PAIR.test(text)) throw invalid(`tags[${index}]`, WELL_FORMED)
    return text
  })
}
