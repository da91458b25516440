import type { JsonObject } from '../../../json/json-value.ts'
import type { ParseContext, ParsedChat } from '../../shared/parsed-chat.ts'
import { parseRequest } from './parse-request.ts'

const NO_END_USER: Pick<ParseContext, 'isEndUser'> = { isEndUser: false }

/** A body of this format that came to chat completions. See parseRequest. */
export function parseResponses(
  body: JsonObject,
  context: Pick<ParseContext, 'isEndUser'> = NO_END_USER,
): ParsedChat {
  return parseRequest(body, context)
}
