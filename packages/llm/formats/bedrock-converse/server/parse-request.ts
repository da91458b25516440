import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toText } from '../../../json/json-value.ts'
import { toEffort } from '../../shared/claude/claude-effort.ts'
import { CONVERSE_METADATA, parseLogMetadata } from '../../shared/reading/log-metadata.ts'
import { noMessageNotes } from '../../shared/reading/message-notes.ts'
import { assertKnownFields, invalid, optionalObject, set } from '../../shared/reading/read-fields.ts'
import type { MutableRequest } from '../../shared/requests/field-table.ts'
import type { ParseContext, ParsedChat } from '../../shared/requests/parsed-chat.ts'
import { assertNoReservedFields, assertNoReservedOptions } from '../../shared/requests/reserved-fields.ts'
import { findStored } from '../../shared/requests/stored-fields.ts'
import { FIELDS, INFERENCE, MODEL_FIELDS, USUAL_VALUES } from '../wire/fields.ts'
import { isSet } from './parse-blocks.ts'
import { parseFormat } from './parse-format.ts'
import { parseMessages } from './parse-messages.ts'
import { parseTools } from './parse-tools.ts'

/** The table of INFERENCE checks its names. */
const CHECKED: ReadonlySet<string> = new Set(['inferenceConfig'])

/**
 * A body of `POST {prefix}/model/{model}/converse` as a canonical request. Throws RequestError where the gateway relies on
 * a value of the wrong form; the provider judges the rest.
 */
export function parseRequest(body: JsonObject, context: ParseContext): ParsedChat {
  return parse(body, context, false)
}

/** Parses a request to `…/converse-stream`: the path says that the answer is a stream. */
export function parseStreamRequest(body: JsonObject, context: ParseContext): ParsedChat {
  return parse(body, context, true)
}

function parse(body: JsonObject, { pathModel, isEndUser }: ParseContext, stream: boolean): ParsedChat {
  assertAllowed(body)
  // A stream of this format always reports usage.
  const request: MutableRequest = { model: pathModel, messages: [], stream, includeUsage: true }
  FIELDS.read(body, request)
  if (request.stop?.length === 0) delete request.stop
  set(request, 'receivedOutputCap', request.maxOutputTokens)
  const notes = noMessageNotes(FIELDS.listFormatSpecific(body))
  request.messages = parseMessages(body, notes)
  if (notes.carriesReasoning) request.carriesReasoning = true
  const areToolsMarked = parseTools(body, request)
  const isMarked = notes.asksForCaching || areToolsMarked
  set(request, 'responseFormat', parseFormat(body))
  const modelFields = optionalObject(body, 'additionalModelRequestFields')
  const ownEffort = toText(optionalObject(body, 'outputConfig')?.effort)
  const effort = modelFields === undefined ? undefined : parseEffort(modelFields)
  set(request, 'reasoningEffort', effort ?? ownEffort)
  return {
    request,
    metadata: parseLogMetadata(body.requestMetadata, CONVERSE_METADATA),
    timeoutMs: undefined,
    hasClaudesEffort: true,
    spellings: toSpellings(modelFields, ownEffort),
    findings: {
      nativeOnly: notes.nativeOnly,
      hosted: [],
      connectors: [],
      hostedTools: [],
      storedStatePaths: [],
      uncounted: [],
      unmeasured: notes.unmeasured,
      unknownFields: [],
      passedOn: isEndUser ? FIELDS.findUnknown(body) : undefined,
      stored: isEndUser ? findStored(body) : undefined,
      choices: 1,
      // Claude's own mark may stand among the fields of the model.
      asksForCaching: isMarked || isSet(modelFields?.cache_control),
      cacheMark: isMarked ? 'cachePoint' : undefined,
    },
  }
}

/** Refuses reserved fields, and values that have another price. */
function assertAllowed(body: JsonObject): void {
  assertNoReservedFields(body, FIELDS.names, undefined, CHECKED)
  const inference = optionalObject(body, 'inferenceConfig')
  if (inference !== undefined) assertNoReservedFields(inference, INFERENCE.names, 'inferenceConfig')
  const modelFields = optionalObject(body, 'additionalModelRequestFields')
  if (modelFields !== undefined) assertNoReservedOptions(modelFields, 'additionalModelRequestFields')
  for (const [name, { field, usual }] of USUAL_VALUES) {
    const settings = optionalObject(body, name)
    if (settings === undefined) continue
    assertKnownFields(settings, new Set([field]), name)
    if ((settings[field] ?? usual) !== usual) {
      throw invalid(`${name}.${field}`, `must be ${usual}: the gateway does not know other prices.`)
    }
  }
}

/** The canonical effort. Each maker's models have a field of their own for it. */
function parseEffort(fields: JsonObject): string | undefined {
  const effort = toText(fields.reasoning_effort)
  if (effort !== undefined) return effort
  const config = toObject(fields.reasoningConfig)
  if (config?.type === 'enabled') return toText(config.maxReasoningEffort) ?? 'medium'
  if (config?.type === 'disabled') return 'none'
  return toEffort(
    toObject(fields.thinking) ?? toObject(fields.reasoning_config),
    toObject(fields.output_config),
  )
}

/** The spellings of the table, with the field that the caller chose to ask for reasoning. */
function toSpellings(
  modelFields: JsonObject | undefined,
  ownEffort: string | undefined,
): ReadonlyMap<string, string> {
  const name = modelFields && MODEL_FIELDS.findFieldOf('reasoningEffort', modelFields)
  if (name === undefined && ownEffort === undefined) return FIELDS.spellings
  const path = name === undefined ? 'outputConfig.effort' : `additionalModelRequestFields.${name}`
  return new Map(FIELDS.spellings).set('reasoning_effort', path)
}
