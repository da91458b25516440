import type { JsonObject } from '../../../json/json-value.ts'
import { parseResponses } from '../../openai-responses/server/parse-chat.ts'
import { hasCacheMark } from '../../shared/cache-marks.ts'
import { noFindings } from '../../shared/findings.ts'
import type { ParseContext, ParsedChat } from '../../shared/parsed-chat.ts'
import { isObject } from '../../shared/read-fields.ts'
import { findStored } from '../../shared/stored-fields.ts'
import { isRead } from '../wire/fields.ts'

/** The body of a Responses request, as some editors send it here. They read the answer as a chat completion. */
export function parseMixed(body: JsonObject, { isEndUser }: ParseContext): ParsedChat {
  const { stream_options: options, ...rest } = body
  const call = parseResponses(rest)
  const includeUsage = isObject(options) && options.include_usage === true
  return {
    ...call,
    shape: 'openai-mixed',
    request: { ...call.request, includeUsage },
    endUser: body.end_user,
    findings: {
      ...(call.findings ?? noFindings()),
      passedOn: isEndUser ? findUnread(body) : undefined,
      stored: isEndUser ? findStored(body) : undefined,
      choices: 1,
      asksForCaching: hasCacheMark(rest),
      mayBeStored: body.store !== undefined,
    },
  }
}

/** The first field that the gateway does not read in a chat completion, where an end user may send none, not even as null. */
export function findUnread(body: JsonObject): string | undefined {
  for (const name in body) if (!isRead(name)) return name
  return undefined
}
