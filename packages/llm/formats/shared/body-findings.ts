import type { Json, JsonObject } from '../../json/json-value.ts'
import type { SourceBody } from '../../request/source-body.ts'
import { noFindings, type TargetFindings } from './findings.ts'
import type { ParseContext, ParsedChat } from './parsed-chat.ts'
import { findStored } from './stored-fields.ts'

/** A format's own part of what it parsed. */
export type OwnFindings = Omit<ParsedChat, 'findings' | 'endUser'> & {
  readonly findings?: TargetFindings
  readonly endUser?: Json | undefined
}

/** What asks for input to be cached, in the words of the formats that have a word for it. */
const CACHE_MARKS = ['cache_control', 'cachePoint']

/** Adds what the formats that still read their body twice do not find by themselves. */
export function withBodyFindings(
  parsed: OwnFindings,
  body: JsonObject,
  { source, isEndUser }: ParseContext,
  findPassedOn: (body: JsonObject) => string | undefined,
): ParsedChat {
  return {
    ...parsed,
    endUser: parsed.endUser ?? body.end_user,
    findings: {
      ...(parsed.findings ?? noFindings()),
      passedOn: isEndUser ? findPassedOn(body) : undefined,
      stored: isEndUser ? findStored(body) : undefined,
      choices: typeof body.n === 'number' ? body.n : 1,
      asksForCaching: CACHE_MARKS.some(mark => source.bytes.includes(mark)),
      mayBeStored: mayBeStored(source),
    },
  }
}

/** Responses are stored unless the request says otherwise. */
function mayBeStored({ format, fields }: SourceBody): boolean {
  return format === 'openai-responses' || fields.has('store')
}
