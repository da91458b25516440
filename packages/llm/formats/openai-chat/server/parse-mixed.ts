import type { JsonObject } from '../../../json/json-value.ts'
import { isObject } from '../../../json/json-value.ts'
import { parseRequest as parseResponses } from '../../openai-responses/server/parse-request.ts'
import type { ParseContext, ParsedChat } from '../../shared/requests/parsed-chat.ts'
import { isRead } from '../wire/fields.ts'

/**
 * The body of a Responses request, as some editors send it here. They read the answer as a chat completion. Only this body
 * has two formats, so its parser is the one of the Responses format.
 */
export function parseMixed(body: JsonObject, context: ParseContext): ParsedChat {
  const { stream_options: options, ...rest } = body
  const parsed = parseResponses(rest, context)
  const includeUsage = isObject(options) && options.include_usage === true
  return {
    ...parsed,
    shape: 'openai-mixed',
    request: { ...parsed.request, includeUsage },
    findings: {
      ...parsed.findings,
      passedOn: context.isEndUser ? findOpaqueField(body) : undefined,
    },
  }
}

/** The first field that the gateway does not read in a chat completion, where an end user may send none, not even as null. */
export function findOpaqueField(body: JsonObject): string | undefined {
  for (const name in body) if (!isRead(name)) return name
  return undefined
}
