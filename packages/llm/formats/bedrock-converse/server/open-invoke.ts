import type { Json, JsonObject } from '../../../json/json-value.ts'
import { parseCountRequest, parseRequest } from '../../anthropic-messages/server/parse-request.ts'
import { invalid, textsAt } from '../../shared/reading/read-fields.ts'
import type { ParseContext, ParsedChat } from '../../shared/requests/parsed-chat.ts'
import type { EmbeddedRequest } from '../../shared/server-format.ts'

export type EmbeddedMessages = Extract<EmbeddedRequest, { readonly value: JsonObject }>

/**
 * Returns the request of Anthropic's format that a body of `InvokeModel` is, as Anthropic's own route takes it: with the
 * model, which is in the path here, and without the version. Other makers' bodies are refused.
 */
export function openMessages(body: JsonObject, model: string, isStream: boolean): EmbeddedMessages {
  const { anthropic_beta: betas } = body
  const embedded = openBody(body, model, isStream)
  return { ...embedded, parse: (value, context) => withBetas(parseRequest(value, context), betas, context) }
}

/** Opens the body of a token count. */
export function openCounted(body: JsonObject, model: string): EmbeddedMessages {
  return { ...openBody(body, model, false), parse: parseCountRequest }
}

/** Bedrock's own models get what is in beta as the caller wrote it. An end user may not ask for it. */
function withBetas(parsed: ParsedChat, betas: Json | undefined, { isEndUser }: ParseContext): ParsedChat {
  if (betas === undefined || betas === null || isEndUser) return parsed
  const providerOptions = { bedrock: { additionalModelRequestFields: { anthropic_beta: betas } } }
  return { ...parsed, request: { ...parsed.request, providerOptions } }
}

function openBody(body: JsonObject, model: string, isStream: boolean): Omit<EmbeddedMessages, 'parse'> {
  const { anthropic_version: version, anthropic_beta: betas, ...rest } = body
  if (typeof version !== 'string') {
    throw invalid(
      'anthropic_version',
      'must be a string: only bodies of Anthropic and of embeddings are served.',
    )
  }
  for (const name of ['model', 'stream']) {
    if (Object.hasOwn(body, name)) throw invalid(name, 'is not a field of this route: its path says it.')
  }
  const value: JsonObject = { model, ...rest, ...(isStream ? { stream: true } : {}) }
  const headers = toHeaders(betas)
  return { format: 'anthropic-messages', value, ...(headers === undefined ? {} : { headers }) }
}

const BETA = /^[\w.-]{1,128}$/

/** What is in beta is asked for in the body here, and in a header at Anthropic. */
function toHeaders(betas: Json | undefined): { 'anthropic-beta': string } | undefined {
  if (betas === undefined || betas === null) return undefined
  const names = typeof betas === 'string' ? [betas] : textsAt(betas, 'anthropic_beta')
  if (!names.every(name => BETA.test(name))) throw invalid('anthropic_beta', 'must be a list of names.')
  return names.length === 0 ? undefined : { 'anthropic-beta': names.join(',') }
}
