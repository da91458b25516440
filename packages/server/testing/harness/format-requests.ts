const ASKED = [{ role: 'user', content: 'hi' }]
const TOOL = { name: 'usual_tool', parameters: { type: 'object', properties: {} } }

interface FormatRequest {
  /** Contains `{model}` in formats that name the model in the path. */
  readonly route: string
  readonly body: Record<string, unknown>
  /** The fields that declare one function. */
  readonly tools: Record<string, unknown>
}

/** The smallest chat request of each server-side format. */
export const FORMAT_REQUESTS: Readonly<Record<string, FormatRequest>> = {
  native: {
    route: '/v1/chat',
    body: { messages: ASKED, max_output_tokens: 64 },
    tools: { tools: [{ type: 'function', function: TOOL }] },
  },
  'openai-chat': {
    route: '/openai/v1/chat/completions',
    body: { messages: ASKED, max_tokens: 64 },
    tools: { tools: [{ type: 'function', function: TOOL }] },
  },
  'openai-responses': {
    route: '/openai/v1/responses',
    body: { input: ASKED, max_output_tokens: 64 },
    tools: { tools: [{ type: 'function', ...TOOL }] },
  },
  'anthropic-messages': {
    route: '/anthropic/v1/messages',
    body: { messages: ASKED, max_tokens: 64 },
    tools: { tools: [{ name: TOOL.name, input_schema: TOOL.parameters }] },
  },
  'gemini-content': {
    route: '/gemini/v1beta/models/{model}:generateContent',
    body: {
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      generationConfig: { maxOutputTokens: 64 },
    },
    tools: {
      tools: [{ functionDeclarations: [{ name: TOOL.name, parametersJsonSchema: TOOL.parameters }] }],
    },
  },
  'bedrock-converse': {
    route: '/bedrock/model/{model}/converse',
    body: { messages: [{ role: 'user', content: [{ text: 'hi' }] }], inferenceConfig: { maxTokens: 64 } },
    tools: {
      toolConfig: { tools: [{ toolSpec: { name: TOOL.name, inputSchema: { json: TOOL.parameters } } }] },
    },
  },
  'cohere-v2': {
    route: '/cohere/v2/chat',
    body: { messages: ASKED, stream: false, max_tokens: 64 },
    tools: { tools: [{ type: 'function', function: TOOL }] },
  },
  'ollama-chat': {
    route: '/ollama/api/chat',
    body: { messages: ASKED, stream: false, options: { num_predict: 64 } },
    tools: { tools: [{ type: 'function', function: TOOL }] },
  },
}

export interface AddressedRequest {
  readonly route: string
  readonly body: Record<string, unknown>
}

/** Returns a format's smallest request for a model, with extra fields. */
export function toFormatRequest(
  surface: string,
  model: string,
  fields: Record<string, unknown> = {},
): AddressedRequest {
  const { route, body } = FORMAT_REQUESTS[surface] as FormatRequest
  return route.includes('{model}')
    ? { route: route.replace('{model}', encodeURIComponent(model)), body: { ...body, ...fields } }
    : { route, body: { model, ...body, ...fields } }
}

/** Returns the code and the parameter of an error, in the error shape of any format. */
export function findErrorFields(body: unknown): { readonly code: string; readonly param: string } {
  const flat = body as Record<string, unknown>
  const error = (typeof flat.error === 'object' && flat.error !== null ? flat.error : flat) as Record<
    string,
    unknown
  >
  const [detail] = (Array.isArray(error.details) ? error.details : []) as Record<string, unknown>[]
  const metadata = (detail?.metadata ?? {}) as Record<string, unknown>
  return {
    code: String(detail?.reason ?? error.code ?? ''),
    param: String(metadata.param ?? error.param ?? error.message ?? ''),
  }
}

/**
 * Returns the smallest request for a stream, with the fields that declare one function. Besides the formats there are two
 * further forms of streams: `gemini-list`, one list of chunks, and `bedrock-invoke`, Anthropic's events in frames of AWS.
 */
export function toStreamRequest(surface: string, model: string): AddressedRequest {
  const format =
    { 'gemini-list': 'gemini-content', 'bedrock-invoke': 'anthropic-messages' }[surface] ?? surface
  const { tools } = FORMAT_REQUESTS[format] as FormatRequest
  const { route, body } = toFormatRequest(format, model, tools)
  if (surface === 'bedrock-invoke') {
    const { model: _, ...rest } = body
    const path = `/bedrock/model/${encodeURIComponent(model)}/invoke-with-response-stream`
    return { route: path, body: { ...rest, anthropic_version: 'bedrock-2023-05-31' } }
  }
  if (format === 'gemini-content') {
    const query = surface === 'gemini-list' ? '' : '?alt=sse'
    return { route: route.replace(':generateContent', `:streamGenerateContent${query}`), body }
  }
  if (format === 'bedrock-converse') return { route: `${route}-stream`, body }
  return { route, body: { ...body, stream: true } }
}
