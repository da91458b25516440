import { packToolCallId } from '@rideau/llm/formats/shared/reasoning/reasoning-carrier'
import type { JsonObject } from '@rideau/llm/json/json-value'

/** Large chat requests, with most of the fields that each server-side format gives a meaning to. */

const PNG = 'iVBORw0KGgoAAAANSUhEUg=='
const IMAGE_URL = `data:image/png;base64,${PNG}`
const PDF = 'data:application/pdf;base64,JVBERi0='
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const CARRIED = packToolCallId('call_1', [
  { type: 'reasoning.encrypted', format: 'anthropic-claude-v1', data: 'cipher', index: 0 },
])
const DETAILS: JsonObject[] = [
  { type: 'reasoning.text', format: 'anthropic-claude-v1', text: 'Hm.', signature: 's', index: 0 },
  { type: 'reasoning.encrypted', format: 'google-gemini-v1', data: 'd', id: 'call_1', index: 1 },
]
const FUNCTION = { name: 'weather', description: 'Tells it.', parameters: SCHEMA }

/** The messages of the formats in OpenAI's shape. */
const MESSAGES: JsonObject[] = [
  { role: 'system', content: 'Be brief.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'What is this?', cache_control: { type: 'ephemeral' } },
      { type: 'image_url', image_url: { url: IMAGE_URL, detail: 'low' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: PDF } },
      { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
    ],
  },
  {
    role: 'assistant',
    content: 'I look.',
    refusal: null,
    reasoning: 'Hm.',
    reasoning_details: DETAILS,
    tool_calls: [
      { id: CARRIED, type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } },
      { id: 'call_2', type: 'function', function: { name: 'weather', arguments: '' } },
    ],
  },
  { role: 'tool', tool_call_id: CARRIED, content: '{"sky":"blue"}' },
  { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: 'rain' }] },
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'Blue.' },
      { type: 'refusal', refusal: 'No.' },
    ],
  },
  { role: 'developer', content: 'Go on.' },
  { role: 'user', name: 'ann', content: 'And?' },
]
const OPENAI_FIELDS: JsonObject = {
  messages: MESSAGES,
  tools: [{ type: 'function', function: FUNCTION }],
  tool_choice: { type: 'function', function: { name: 'weather' } },
  parallel_tool_calls: false,
  response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: SCHEMA, strict: true } },
  temperature: 1,
  top_p: 0.9,
  stop: ['END'],
  seed: 1,
  presence_penalty: 0.1,
  frequency_penalty: 0.1,
  reasoning_effort: 'low',
  stream: true,
  stream_options: { include_usage: true },
  metadata: { a: 'b' },
  user: 'u',
}

export interface RichRequest {
  readonly name: string
  /** The id of the server-side format. */
  readonly format: string
  readonly body: JsonObject
}

export const RICH_REQUESTS: readonly RichRequest[] = [
  {
    name: 'native',
    format: 'native',
    body: {
      ...OPENAI_FIELDS,
      max_output_tokens: 64,
      n: 1,
      timeout_ms: 5_000,
      end_user: 'u',
      provider_options: { openai: { verbosity: 'low' } },
    },
  },
  {
    name: 'openai-chat',
    format: 'openai-chat',
    body: { ...OPENAI_FIELDS, max_completion_tokens: 64, n: 1, store: false, logprobs: false },
  },
  {
    name: 'openai-chat with functions and a custom tool call',
    format: 'openai-chat',
    body: {
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: IMAGE_URL }] },
        { role: 'assistant', content: null, function_call: { name: 'weather', arguments: '{}' } },
        { role: 'function', name: 'weather', content: 'blue' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_3', type: 'custom', custom: { name: 'shell', input: 'ls' } }],
        },
        { role: 'tool', tool_call_id: 'call_3', content: 'a.txt' },
      ],
      functions: [FUNCTION],
      function_call: { name: 'weather' },
      reasoning: { effort: 'low', max_tokens: 1024 },
      max_tokens: 64,
    },
  },
  {
    name: 'openai-responses',
    format: 'openai-responses',
    body: {
      instructions: 'Be brief.',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is this?' },
            { type: 'input_image', image_url: IMAGE_URL, detail: 'auto' },
            { type: 'input_file', filename: 'a.pdf', file_data: PDF },
          ],
        },
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 'Hm.' }],
          encrypted_content: 'c',
        },
        { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'blue' },
        { type: 'custom_tool_call', call_id: 'call_2', name: 'shell', input: 'ls' },
        { type: 'custom_tool_call_output', call_id: 'call_2', output: 'a.txt' },
        {
          type: 'message',
          role: 'assistant',
          content: [
            { type: 'output_text', text: 'Blue.', annotations: [] },
            { type: 'refusal', refusal: 'No.' },
          ],
        },
        { role: 'user', content: 'And?' },
      ],
      tools: [
        { type: 'function', ...FUNCTION, strict: false },
        { type: 'custom', name: 'shell', description: 'Runs.', format: { type: 'text' } },
      ],
      tool_choice: { type: 'function', name: 'weather' },
      text: {
        format: { type: 'json_schema', name: 'answer', schema: SCHEMA, strict: true },
        verbosity: 'low',
      },
      reasoning: { effort: 'low', summary: 'auto' },
      max_output_tokens: 64,
      parallel_tool_calls: false,
      store: false,
      include: ['reasoning.encrypted_content'],
      metadata: { a: 'b' },
    },
  },
  {
    name: 'openai-completions',
    format: 'openai-completions',
    body: {
      prompt: 'Once',
      max_tokens: 64,
      temperature: 1,
      stop: ['END'],
      logprobs: 1,
      suffix: '.',
      echo: false,
    },
  },
  {
    name: 'anthropic-messages',
    format: 'anthropic-messages',
    body: {
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
              title: 'A',
            },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 's' },
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Paris' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'toolu_1',
              content: [{ type: 'text', text: 'blue' }],
              is_error: false,
            },
            { type: 'text', text: 'And?' },
          ],
        },
      ],
      tools: [{ name: 'weather', description: 'Tells it.', input_schema: SCHEMA }],
      tool_choice: { type: 'tool', name: 'weather', disable_parallel_tool_use: true },
      max_tokens: 2048,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      output_config: { effort: 'low', format: { type: 'json_schema', schema: SCHEMA } },
      metadata: { user_id: 'u' },
      stop_sequences: ['END'],
      temperature: 1,
      top_k: 5,
    },
  },
  {
    name: 'gemini-content',
    format: 'gemini-content',
    body: {
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'What?' }, { inlineData: { mimeType: 'image/png', data: PNG } }] },
        {
          role: 'model',
          parts: [
            { text: 'Hm.', thought: true },
            { functionCall: { id: 'f1', name: 'weather', args: { city: 'Paris' } }, thoughtSignature: 's' },
          ],
        },
        {
          role: 'user',
          parts: [{ functionResponse: { id: 'f1', name: 'weather', response: { result: 'blue' } } }],
        },
      ],
      tools: [{ functionDeclarations: [{ name: 'weather', description: 'Tells it.', parameters: SCHEMA }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['weather'] } },
      generationConfig: {
        maxOutputTokens: 64,
        temperature: 1,
        topK: 5,
        stopSequences: ['END'],
        responseMimeType: 'application/json',
        responseSchema: SCHEMA,
        thinkingConfig: { includeThoughts: true, thinkingBudget: 100 },
      },
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
    },
  },
  {
    name: 'bedrock-converse',
    format: 'bedrock-converse',
    body: {
      system: [{ text: 'Be brief.' }, { cachePoint: { type: 'default' } }],
      messages: [
        {
          role: 'user',
          content: [
            { text: 'What?' },
            { image: { format: 'png', source: { bytes: PNG } } },
            { document: { format: 'pdf', name: 'a', source: { bytes: 'JVBERi0=' } } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: 'Hm.', signature: 's' } } },
            { toolUse: { toolUseId: 't1', name: 'weather', input: { city: 'Paris' } } },
          ],
        },
        {
          role: 'user',
          content: [{ toolResult: { toolUseId: 't1', content: [{ text: 'blue' }], status: 'success' } }],
        },
      ],
      toolConfig: {
        tools: [{ toolSpec: { name: 'weather', description: 'Tells it.', inputSchema: { json: SCHEMA } } }],
        toolChoice: { tool: { name: 'weather' } },
      },
      inferenceConfig: { maxTokens: 64, temperature: 1, topP: 0.9, stopSequences: ['END'] },
      additionalModelRequestFields: { top_k: 5 },
    },
  },
  {
    name: 'cohere-v2',
    format: 'cohere-v2',
    body: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What?' },
            { type: 'image_url', image_url: { url: IMAGE_URL } },
          ],
        },
        {
          role: 'assistant',
          tool_plan: 'I look.',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } }],
        },
        {
          role: 'tool',
          tool_call_id: 'c1',
          content: [{ type: 'document', document: { id: 'd', data: { sky: 'blue' } } }],
        },
      ],
      tools: [{ type: 'function', function: FUNCTION }],
      tool_choice: 'REQUIRED',
      response_format: { type: 'json_object', json_schema: SCHEMA },
      thinking: { type: 'enabled', token_budget: 100 },
      max_tokens: 64,
      stop_sequences: ['END'],
      k: 5,
      stream: false,
    },
  },
  {
    name: 'ollama-chat',
    format: 'ollama-chat',
    body: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'What?', images: [PNG] },
        {
          role: 'assistant',
          content: '',
          thinking: 'Hm.',
          tool_calls: [{ id: 'o1', function: { name: 'weather', arguments: { city: 'Paris' } } }],
        },
        { role: 'tool', tool_call_id: 'o1', tool_name: 'weather', content: 'blue' },
      ],
      tools: [{ type: 'function', function: FUNCTION }],
      format: SCHEMA,
      think: 'low',
      options: { num_predict: 64, temperature: 1, stop: ['END'], seed: 1 },
      keep_alive: '5m',
      stream: false,
    },
  },
]

/** Stands for a field that is left out. */
const DELETED = Symbol('deleted')
/** Values that are odd for most fields. */
const ODD_VALUES: readonly unknown[] = [null, 5, '', 'odd', [], {}, [null], DELETED]

/** Returns the JSON with each of its values in turn replaced by an odd one, and the path of that value. */
export function* listOddBodies(
  body: JsonObject,
): Generator<{ readonly path: string; readonly body: JsonObject }> {
  for (const keys of listPaths(body)) {
    for (const odd of ODD_VALUES) {
      const shown = odd === DELETED ? 'deleted' : JSON.stringify(odd)
      yield { path: `${keys.join('.')} = ${shown}`, body: replaceAt(body, keys, odd) as JsonObject }
    }
  }
}

function* listPaths(value: unknown, before: readonly string[] = []): Generator<readonly string[]> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    const keys = [...before, key]
    yield keys
    yield* listPaths(inner, keys)
  }
}

function replaceAt(value: unknown, [key = '', ...rest]: readonly string[], odd: unknown): unknown {
  const entries = new Map(Object.entries(value as object))
  const next = rest.length === 0 ? odd : replaceAt(entries.get(key), rest, odd)
  if (next === DELETED) entries.delete(key)
  else entries.set(key, next)
  return Array.isArray(value) ? [...entries.values()] : Object.fromEntries(entries)
}
