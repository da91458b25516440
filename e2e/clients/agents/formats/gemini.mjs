// Google's generateContent, as its API takes and sends it.
import { checkFields, SIGNATURE, sendFrames, sendWhole, toWords, unnamed } from './events.mjs'

export const ID = 'scripted'

const FIELDS = [
  ...['contents', 'systemInstruction', 'tools', 'toolConfig', 'safetySettings', 'generationConfig'],
  ...['cachedContent', 'labels', 'serviceTier', 'store'],
]

export const readKey = headers => headers['x-goog-api-key']

export function read(body, url) {
  checkFields(body, FIELDS)
  const parts = body.contents.flatMap(each => each.parts)
  const calls = parts.filter(({ functionCall }) => functionCall !== undefined)
  const results = parts.filter(({ functionResponse }) => functionResponse !== undefined)
  const names = list => list.map(({ name }) => name).join()
  const [called, answered] = [
    calls.map(({ functionCall }) => functionCall),
    results.map(({ functionResponse }) => functionResponse),
  ]
  if (names(called) !== names(answered)) throw new Error('function responses do not match the function calls')
  if (calls.some(({ thoughtSignature }) => thoughtSignature !== SIGNATURE))
    throw new Error('Function call is missing a thought_signature')
  const [, model, method] = /models\/([^/]+):(\w+)$/.exec(url.pathname)
  return {
    format: 'gemini',
    model,
    isStream: method === 'streamGenerateContent',
    tools: (body.tools ?? []).flatMap(({ functionDeclarations = [] }) =>
      functionDeclarations.map(({ name }) => name),
    ),
    schema: body.generationConfig?.responseJsonSchema ?? body.generationConfig?.responseSchema,
    calls: called.map(({ name, args }) => ({ name, args })),
    results: answered.map(({ response }) => JSON.stringify(response)),
  }
}

const usageMetadata = { promptTokenCount: 12, candidatesTokenCount: 3, totalTokenCount: 15 }

export function write(res, { model, isStream }, { text, name, args, id }, options) {
  const call = name === undefined ? [] : [{ functionCall: { id, name, args }, thoughtSignature: SIGNATURE }]
  const event = (parts, fields = {}) => ({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...fields }],
    usageMetadata,
    modelVersion: model,
    responseId: 'scripted',
  })
  const end = { finishReason: 'STOP' }
  if (!isStream)
    return sendWhole(res, event([...(text === undefined ? [] : [{ text }]), ...call], end), options)
  const events = [
    ...(text === undefined ? [] : toWords(text).map(word => event([{ text: word }]))),
    ...(call.length === 0 ? [] : [event(call)]),
    event([{ text: '' }], end),
  ]
  sendFrames(res, events.map(unnamed), options)
}
