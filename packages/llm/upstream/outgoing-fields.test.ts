import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OPENAI_RULES as EMBEDDINGS } from '../embeddings/embedding-rules.ts'
import { FIELDS as ANTHROPIC } from '../formats/anthropic-messages/wire/fields.ts'
import { FIELDS as CONVERSE } from '../formats/bedrock-converse/wire/fields.ts'
import { FIELDS as COHERE } from '../formats/cohere-v2/wire/fields.ts'
import { FIELDS as GEMINI } from '../formats/gemini-content/wire/fields.ts'
import { FIELDS as OLLAMA } from '../formats/ollama-chat/wire/fields.ts'
import { FIELDS as CHAT } from '../formats/openai-chat/wire/fields.ts'
import { FIELDS as RESPONSES } from '../formats/openai-responses/wire/fields.ts'
import { OPENAI_RULES as IMAGES } from '../images/image-rules.ts'
import type { Json, JsonObject } from '../json/json-value.ts'
import { PROVIDERS } from '../providers/index.ts'
import { findForbidden } from './outgoing-body.ts'
import type { FieldRules, Grant, Sender } from './outgoing-rules.ts'

const GRANT: Grant = { sender: 'key', model: 'm', isStream: false, choices: 1, maxOutputTokens: 64 }

function find(rules: FieldRules, value: JsonObject, sender: Sender): string | undefined {
  return findForbidden({ rules, value }, { ...GRANT, sender })
}

const SENDERS: readonly Sender[] = ['key', 'trusted_end_user', 'end_user']

const SCHEMA = { type: 'object', properties: { model: { type: 'string' }, n: { type: 'number' } } }
const FUNCTION = { name: 'f', description: 'd', parameters: SCHEMA, strict: true }
const CHAT_TOOL = { type: 'function', function: FUNCTION }
const MARK = { type: 'ephemeral', ttl: '1h' }
const URL = 'https://a.example/x.png'

interface Case {
  readonly rules: FieldRules
  /** Everything in it is known to be harmless. */
  readonly body: JsonObject
  /** Fields that a key may send and an end user may not, by the path that is refused. */
  readonly ofKeys: readonly (readonly [path: string, fields: JsonObject])[]
  /** What reaches the provider's store: no end user may, whatever the environment allows. */
  readonly stored: readonly (readonly [path: string, fields: JsonObject])[]
  /** What changes price, authorization or what the gateway relies on: nobody may. */
  readonly refused: readonly (readonly [path: string, fields: JsonObject])[]
}

const user = (...content: Json[]): JsonObject => ({ messages: [{ role: 'user', content }] })

/** Refused in every format at the top of the body. */
const EVERYWHERE: readonly (readonly [string, JsonObject])[] = [
  ...[
    'models',
    'route',
    'fallback',
    'plugins',
    'preset',
    'best_of',
    'bestOf',
    'web_search_options',
    'search_parameters',
    'mcp_servers',
    'container',
    'thread',
    'billing_policy',
    'prediction',
    'audio',
    'Model',
    'extra_body.model',
  ].map((name): [string, JsonObject] => [name, { [name]: 'x' }]),
  ['extra_body.a[0].model', { extra_body: { a: [{ model: 'y' }] } }],
  ['provider.order', { provider: { order: ['x'] } }],
  ['modalities', { modalities: ['text', 'audio'] }],
]

const CASES: Readonly<Record<string, Case>> = {
  'openai-chat': {
    rules: CHAT.rules,
    body: {
      model: 'm',
      messages: [
        { role: 'developer', content: 'a', name: 'b' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a', cache_control: MARK },
            { type: 'image_url', image_url: { url: URL, detail: 'low' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:' } },
            { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          refusal: null,
          annotations: [],
          reasoning_details: [{ type: 'reasoning.text', text: 'x', signature: 's', index: 0 }],
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'x' },
      ],
      tools: [CHAT_TOOL],
      tool_choice: { type: 'function', function: { name: 'f' } },
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: SCHEMA } },
      stream: false,
      stream_options: { include_usage: true },
      max_completion_tokens: 64,
      n: 1,
      temperature: 1,
      stop: ['a'],
      metadata: { model: 'x', n: '2' },
      logit_bias: { 1: 2 },
      service_tier: 'auto',
      store: false,
    },
    ofKeys: [
      ['novelty', { novelty: 1 }],
      ['novelty', { novelty: null }],
      ['functions', { functions: [FUNCTION] }],
      ['messages[0].content[0]', user({ type: 'video_url', video_url: { url: URL } })],
      ['messages[0].content[0].novelty', user({ type: 'text', text: 'a', novelty: 1 })],
      ['messages[0].novelty', { messages: [{ role: 'user', content: 'a', novelty: 1 }] }],
      ['temperature', { temperature: { a: 1 } }],
      ['stream_options.novelty', { stream_options: { novelty: 1 } }],
    ],
    stored: [
      ['messages[0].content[0].file.file_id', user({ type: 'file', file: { file_id: 'f' } })],
      ['messages[0].audio', { messages: [{ role: 'assistant', audio: { id: 'a' } }] }],
      ['store', { store: true }],
    ],
    refused: [
      ['n', { n: 128 }],
      ['n', { n: '1' }],
      ['model', { model: 'other' }],
      ['stream', { stream: true }],
      ['max_tokens', { max_tokens: 65 }],
      ['service_tier', { service_tier: 'priority' }],
      ['tools[0]', { tools: [{ type: 'web_search' }] }],
      ['tools[0]', { tools: [{ type: 'constructor' }] }],
      ['tools[0].web_search', { tools: [{ ...CHAT_TOOL, web_search: {} }] }],
      ['tools[0].Type', { tools: [{ ...CHAT_TOOL, Type: 'web_search' }] }],
      ['tools', { tools: CHAT_TOOL }],
      ['temperature.model', { temperature: { model: 'x' } }],
    ],
  },
  'openai-responses': {
    rules: RESPONSES.rules,
    body: {
      model: 'm',
      input: [
        { role: 'user', content: 'a' },
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'a' },
            { type: 'input_image', image_url: URL, detail: 'auto' },
            { type: 'input_file', filename: 'a', file_data: 'data:' },
          ],
        },
        {
          type: 'reasoning',
          id: 'r',
          summary: [{ type: 'summary_text', text: 'x' }],
          encrypted_content: 'e',
        },
        {
          type: 'message',
          id: 'm',
          status: 'completed',
          role: 'assistant',
          phase: 'final',
          content: [{ type: 'output_text', text: 'x', annotations: [], logprobs: [] }],
        },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', status: 'completed' },
        { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'x' }] },
        { type: 'custom_tool_call', call_id: 'd', name: 'g', input: 'x' },
        { type: 'custom_tool_call_output', call_id: 'd', output: 'x' },
      ],
      instructions: 'i',
      stream: false,
      tools: [
        { type: 'function', ...FUNCTION },
        { type: 'custom', name: 'g', format: { type: 'text' } },
        { type: 'local_shell' },
        { type: 'namespace', name: 'a', tools: [{ type: 'function', name: 'h' }] },
        { type: 'tool_search', execution: 'client' },
        { type: 'shell', environment: { type: 'local' } },
      ],
      tool_choice: 'auto',
      text: { format: { type: 'json_schema', name: 'n', schema: SCHEMA }, verbosity: 'low' },
      reasoning: { effort: 'low', summary: 'auto' },
      max_output_tokens: 64,
      include: ['reasoning.encrypted_content'],
      metadata: { model: 'x' },
      store: false,
      background: false,
    },
    ofKeys: [
      ['novelty', { novelty: 1 }],
      ['input[0]', { input: [{ type: 'novel_call', id: 'x' }] }],
      ['input[0]', { input: [{ type: 'web_search_call', id: 'x' }] }],
      ['input[0].novelty', { input: [{ role: 'user', content: 'a', novelty: 1 }] }],
      ['input[0].content[0]', { input: [{ role: 'user', content: [{ type: 'novel' }] }] }],
      ['tools[0]', { tools: [{ type: 'tool_search' }] }],
      ['text.novelty', { text: { novelty: 1 } }],
      [
        'input[0]',
        {
          input: [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'f' }] }],
        },
      ],
    ],
    stored: [
      ['previous_response_id', { previous_response_id: 'r' }],
      ['conversation', { conversation: 'c' }],
      ['store', { store: true }],
      ['input[0]', { input: [{ type: 'item_reference', id: 'x' }] }],
      [
        'input[0].content[0].file_id',
        { input: [{ role: 'assistant', content: [{ type: 'output_text', text: 'x', file_id: 'f' }] }] },
      ],
      [
        'input[0].content[0].file_id',
        { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] },
      ],
      [
        'input[0].output[0].file_id',
        { input: [{ type: 'function_call_output', output: [{ type: 'input_image', file_id: 'f' }] }] },
      ],
    ],
    refused: [
      ['background', { background: true }],
      ['prompt', { prompt: { id: 'p' } }],
      ['max_output_tokens', { max_output_tokens: 65 }],
      ['tools[0]', { tools: [{ type: 'web_search' }] }],
      ['tools[0]', { tools: [{ type: 'Function', name: 'f' }] }],
      ['tools[0].tools[0]', { tools: [{ type: 'namespace', name: 'a', tools: [{ type: 'mcp' }] }] }],
      ['tools[0].Tools', { tools: [{ type: 'namespace', name: 'a', tools: [], Tools: [] }] }],
      ['tools[0].environment', { tools: [{ type: 'shell', environment: { type: 'container_auto' } }] }],
      ['tools[0].environment', { tools: [{ type: 'shell', environment: {} }] }],
      ['service_tier', { service_tier: 'flex' }],
    ],
  },
  'anthropic-messages': {
    rules: ANTHROPIC.rules,
    body: {
      model: 'm',
      max_tokens: 64,
      system: [{ type: 'text', text: 'a', cache_control: MARK }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } },
            { type: 'document', source: { type: 'url', url: URL }, title: 't', citations: { enabled: true } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'x', signature: 's' },
            { type: 'tool_use', id: 't', name: 'f', input: { model: 'x', file_id: 'y' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't',
              content: [{ type: 'text', text: 'x' }],
              is_error: false,
            },
          ],
        },
      ],
      tools: [
        { name: 'f', input_schema: SCHEMA, cache_control: MARK },
        { type: 'bash_20250124', name: 'bash' },
        { type: 'computer_20251124', name: 'computer', display_width_px: 1, display_height_px: 1 },
      ],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      thinking: { type: 'enabled', budget_tokens: 1024 },
      output_config: { effort: 'low', format: { type: 'json_schema', schema: SCHEMA } },
      metadata: { user_id: 'u' },
      service_tier: 'standard_only',
      speed: 'standard',
      stream: false,
      top_k: 5,
    },
    ofKeys: [
      ['novelty', { novelty: 1 }],
      ['tools[0]', { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }],
      ['tools[0]', { tools: [{ type: 'tool_search_tool_bm25_20251119', name: 's' }] }],
      ['context_management', { context_management: { edits: [] } }],
      ['anthropic_beta', { anthropic_beta: ['x'] }],
      ['messages[0].content[0]', user({ type: 'server_tool_use', id: 'x', name: 'y', input: {} })],
      ['messages[0].content[0].novelty', user({ type: 'text', text: 'a', novelty: 1 })],
    ],
    stored: [
      [
        'messages[0].content[0].source.file_id',
        user({ type: 'document', source: { type: 'file', file_id: 'f' } }),
      ],
      [
        'messages[0].content[0].content[0].source.file_id',
        user({ type: 'tool_result', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }),
      ],
    ],
    refused: [
      ['tools[0]', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
      ['tools[0]', { tools: [{ type: 'Web_Fetch_20250910', name: 'b' }] }],
      ['tools[0]', { tools: [{ type: 'code_execution_20260120', name: 'b' }] }],
      ['tools[0].Type', { tools: [{ name: 'f', Type: 'web_search_20250305' }] }],
      ['tools[0].container', { tools: [{ type: 'bash_20250124', name: 'b', container: 'c' }] }],
      ['speed', { speed: 'fast' }],
      ['service_tier', { service_tier: 'priority' }],
      ['max_tokens', { max_tokens: 65 }],
    ],
  },
  'gemini-content': {
    rules: GEMINI.rules,
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'a' }, { inline_data: { mime_type: 'image/png', data: 'QUJD' } }] },
        {
          role: 'model',
          parts: [{ functionCall: { name: 'f', args: { model: 'x' } }, thoughtSignature: 's' }],
        },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { file_id: 'x' } } }] },
        { role: 'user', parts: [{ fileData: { mimeType: 'image/png', fileUri: URL } }] },
      ],
      system_instruction: { parts: [{ text: 'i' }] },
      tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: SCHEMA }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
      generationConfig: {
        maxOutputTokens: 64,
        temperature: 1,
        responseModalities: ['TEXT'],
        thinkingConfig: { includeThoughts: true },
        candidateCount: 1,
        responseJsonSchema: SCHEMA,
      },
    },
    ofKeys: [
      ['novelty', { novelty: 1 }],
      ['safetySettings', { safetySettings: [] }],
      ['safety_settings', { safety_settings: [] }],
      ['labels', { labels: { a: 'b' } }],
      ['generationConfig.mediaResolution', { generationConfig: { mediaResolution: 'HIGH' } }],
      ['contents[0].parts[0].executableCode', { contents: [{ parts: [{ executableCode: {} }] }] }],
      ['contents[0].parts[0].novelty', { contents: [{ parts: [{ novelty: {} }] }] }],
      ['toolConfig.retrievalConfig', { toolConfig: { retrievalConfig: {} } }],
    ],
    stored: [
      ['cachedContent', { cachedContent: 'cachedContents/x' }],
      [
        'contents[0].parts[0].fileData.fileUri',
        { contents: [{ parts: [{ fileData: { fileUri: 'gs://bucket/x' } }] }] },
      ],
      [
        'contents[0].parts[0].file_data.file_uri',
        { contents: [{ parts: [{ file_data: { file_uri: 'https://a.example/v1beta/files/x' } }] }] },
      ],
    ],
    refused: [
      ['tools[0].googleSearch', { tools: [{ googleSearch: {} }] }],
      ['tools[0].code_execution', { tools: [{ code_execution: {} }] }],
      ['tools[0].GoogleSearch', { tools: [{ functionDeclarations: [], GoogleSearch: {} }] }],
      ['generationConfig.candidateCount', { generationConfig: { candidateCount: 2 } }],
      ['generationConfig.candidate_count', { generationConfig: { candidate_count: 2 } }],
      ['generationConfig.responseModalities', { generationConfig: { responseModalities: ['IMAGE'] } }],
      ['generationConfig.maxOutputTokens', { generationConfig: { maxOutputTokens: 65 } }],
      ['generationConfig.speechConfig', { generationConfig: { speechConfig: {} } }],
      ['model', { model: 'models/other' }],
    ],
  },
  'bedrock-converse': {
    rules: CONVERSE.rules,
    body: {
      messages: [
        {
          role: 'user',
          content: [
            { text: 'a' },
            { cachePoint: { type: 'default' } },
            { image: { format: 'png', source: { bytes: 'QUJD' } } },
            { document: { format: 'pdf', name: 'd', source: { bytes: 'QUJD' } } },
          ],
        },
        { role: 'assistant', content: [{ toolUse: { toolUseId: 't', name: 'f', input: { model: 'x' } } }] },
        { role: 'user', content: [{ toolResult: { toolUseId: 't', content: [{ json: { n: 2 } }] } }] },
      ],
      system: [{ text: 'i' }],
      inferenceConfig: { maxTokens: 64, stopSequences: ['a'] },
      toolConfig: {
        tools: [
          { toolSpec: { name: 'f', inputSchema: { json: SCHEMA } } },
          { cachePoint: { type: 'default' } },
        ],
        toolChoice: { auto: {} },
      },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 1024 }, top_k: 5 },
      outputConfig: {
        textFormat: { type: 'json_schema', structure: { jsonSchema: { name: 'n', schema: '{}' } } },
      },
      requestMetadata: { model: 'x' },
      serviceTier: { type: 'default' },
      performanceConfig: { latency: 'standard' },
    },
    ofKeys: [
      ['novelty', { novelty: 1 }],
      ['additionalModelRequestFields.novelty', { additionalModelRequestFields: { novelty: 1 } }],
      [
        'additionalModelRequestFields.anthropic_beta',
        { additionalModelRequestFields: { anthropic_beta: [] } },
      ],
      ['messages[0].content[0].novelty', user({ novelty: {} })],
      ['messages[0].content[0].video', user({ video: { format: 'mp4', source: { bytes: 'QUJD' } } })],
    ],
    stored: [],
    refused: [
      ['toolConfig.tools[0].systemTool', { toolConfig: { tools: [{ systemTool: {} }] } }],
      ['toolConfig.tools[0].systemTool', { toolConfig: { tools: [{ cachePoint: null, systemTool: {} }] } }],
      ['toolConfig.tools[0].SystemTool', { toolConfig: { tools: [{ SystemTool: {} }] } }],
      [
        'toolConfig.tools[0].systemTool',
        { toolConfig: { tools: [{ toolSpec: { name: 'f' }, systemTool: {} }] } },
      ],
      ['toolConfig.Tools', { toolConfig: { tools: [], Tools: [] } }],
      ['serviceTier.type', { serviceTier: { type: 'priority' } }],
      ['serviceTier.Type', { serviceTier: { type: 'default', Type: 'priority' } }],
      ['performanceConfig.latency', { performanceConfig: { latency: 'optimized' } }],
      ['inferenceConfig.maxTokens', { inferenceConfig: { maxTokens: 65 } }],
      ['guardrailConfig', { guardrailConfig: {} }],
      ['additionalModelRequestFields.model', { additionalModelRequestFields: { model: 'x' } }],
      [
        'messages[0].content[0].image.source.s3Location',
        user({ image: { format: 'png', source: { s3Location: {} } } }),
      ],
    ],
  },
  'cohere-v2': {
    rules: COHERE.rules,
    body: {
      model: 'm',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'a' }] },
        {
          role: 'assistant',
          tool_plan: 'p',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        {
          role: 'tool',
          tool_call_id: 'c',
          content: [{ type: 'document', document: { data: { model: 'x' } } }],
        },
      ],
      documents: ['a', { id: 'd', data: { n: 2 } }],
      tools: [CHAT_TOOL],
      tool_choice: 'REQUIRED',
      response_format: { type: 'json_object', json_schema: SCHEMA },
      thinking: { type: 'enabled', token_budget: 9 },
      max_tokens: 64,
      stream: false,
      safety_mode: 'OFF',
      k: 1,
      p: 0.5,
    },
    ofKeys: [
      ['novelty', { novelty: 1 }],
      ['messages[0].content[0]', user({ type: 'novel' })],
      ['citation_options.novelty', { citation_options: { novelty: 1 } }],
    ],
    stored: [],
    refused: [
      ['tools[0]', { tools: [{ type: 'web_search' }] }],
      ['tools[0].server_url', { tools: [{ ...CHAT_TOOL, server_url: 'x' }] }],
      ['max_tokens', { max_tokens: 65 }],
      ['connectors', { connectors: [] }],
    ],
  },
  'ollama-chat': {
    rules: OLLAMA.rules,
    body: {
      model: 'm',
      messages: [
        { role: 'user', content: 'a', images: ['QUJD'] },
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ function: { name: 'f', arguments: { model: 'x' } } }],
        },
        { role: 'tool', tool_name: 'f', content: 'x' },
      ],
      stream: false,
      tools: [CHAT_TOOL],
      format: SCHEMA,
      think: true,
      options: { num_predict: 64, temperature: 1, top_k: 5 },
    },
    ofKeys: [
      ['novelty', { novelty: 1 }],
      ['keep_alive', { keep_alive: -1 }],
      ['options.num_ctx', { options: { num_ctx: 999_999 } }],
      ['options.novelty', { options: { novelty: 1 } }],
    ],
    stored: [],
    refused: [
      ['tools[0]', { tools: [{ type: 'web_search' }] }],
      ['options.num_predict', { options: { num_predict: 65 } }],
      ['raw', { raw: true }],
      ['system', { system: 'x' }],
    ],
  },
  embeddings: {
    rules: EMBEDDINGS,
    body: { model: 'm', input: [[1, 2], [3]], dimensions: 9, encoding_format: 'float', user: 'u' },
    ofKeys: [['novelty', { novelty: 1 }]],
    stored: [],
    refused: [['model', { model: 'other' }]],
  },
  images: {
    rules: IMAGES,
    body: { model: 'm', prompt: 'a', n: 1, size: '1024x1024', images: [{ image_url: URL }] },
    ofKeys: [['novelty', { novelty: 1 }]],
    stored: [['images[0].file_id', { images: [{ file_id: 'f' }] }]],
    refused: [
      ['n', { n: 2 }],
      ['num_images', { num_images: 9 }],
      ['samples', { samples: 9 }],
    ],
  },
}

describe.each(Object.entries(CASES))('%s', (_, { rules, body, ofKeys, stored, refused }) => {
  test('lets everybody send what is known to be harmless', () => {
    for (const sender of SENDERS) expect(find(rules, body, sender)).toBeUndefined()
  })

  test.each(ofKeys)('refuses end users %s', (path, fields) => {
    expect(find(rules, { ...body, ...fields }, 'end_user')).toBe(path)
    expect(find(rules, { ...body, ...fields }, 'key')).toBeUndefined()
    const isStored = path === 'cachedContent'
    if (!isStored) expect(find(rules, { ...body, ...fields }, 'trusted_end_user')).toBeUndefined()
  })

  test.each(stored)('refuses end users %s, also where the environment trusts them', (path, fields) => {
    expect(find(rules, { ...body, ...fields }, 'end_user')).toBe(path)
    expect(find(rules, { ...body, ...fields }, 'trusted_end_user')).toBe(path)
    expect(find(rules, { ...body, ...fields }, 'key')).toBeUndefined()
  })

  test.each([...refused, ...EVERYWHERE])('refuses everybody %s', (path, fields) => {
    const found = find(rules, { ...body, ...fields }, 'key')
    expect(found).toBe(path)
    for (const sender of SENDERS) expect(find(rules, { ...body, ...fields }, sender)).toBeDefined()
  })
})

/** Fields in whose objects every name is the caller's own. */
const DATA: ReadonlySet<string> = new Set([
  ...['input', 'arguments', 'args', 'json', 'response', 'data', 'metadata', 'requestMetadata', 'logit_bias'],
  ...['parsed', 'citationsContent'],
])

/** Every object of a body in which a field has a meaning for the provider, by its path. */
function listObjects(value: Json, path: string): [string, JsonObject][] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((each, at) => listObjects(each, `${path}[${at}]`))
  // A schema.
  if (value.type === 'object') return []
  const inner = Object.entries(value).flatMap(([name, each]) =>
    DATA.has(name) && !Array.isArray(each) ? [] : listObjects(each as Json, `${path}.${name}`),
  )
  return [[path, value], ...inner]
}

const SEED = Number(process.env.RIDEAU_TEST_SEED ?? Date.now() % 2_147_483_647)
const RUNS = Number(process.env.RIDEAU_TEST_RUNS ?? 3_000)

const NAMES = [
  ...['model', 'MODEL', 'ſtream', 'stream', 'n', 'N', 'candidateCount', 'tools', 'Tools', 'systemTool'],
  ...['web_search', 'file_id', 'container', 'service_tier', 'fallback', 'constructor', 'toString', '', 'a.b'],
  ...['max_tokens', 'maxOutputTokens', 'googleSearch', 'cachedContent', 'provider', 'extra_body'],
]

test(`no unknown field of any object leaves for an end user, and none changes what was granted (seed ${SEED})`, () => {
  const name = fc.oneof(fc.constantFrom(...NAMES), fc.string({ maxLength: 8 }))
  const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>
  const place = fc.record({ format: fc.constantFrom(...Object.keys(CASES)), at: fc.nat(), name, value })
  let refused = 0
  fc.assert(
    fc.property(place, ({ format, at, name: added, value: given }) => {
      const { rules, body } = CASES[format] as Case
      const copy = structuredClone(body)
      const objects = listObjects(copy, '')
      const [path, object] = objects[at % objects.length] as [string, JsonObject]
      fc.pre(!Object.hasOwn(object, added) && added !== '__proto__')
      const asUser = (): string | undefined => find(rules, copy, 'end_user')
      object[added] = given
      // A name that the place knows may be sent: then its value is checked, and an unknown one beside it is not.
      const isKnown = asUser() === undefined
      delete object[added]
      if (isKnown) {
        object[`${added}_novelty`] = given
        expect([format, path, asUser()]).toEqual([format, path, expect.any(String)])
        return
      }
      refused++
    }),
    { seed: SEED, numRuns: RUNS },
  )
  expect(refused).toBeGreaterThan(RUNS / 2)
})

test(`whatever is added to a body, its model, stream and count are the granted ones (seed ${SEED})`, () => {
  const extra = fc.dictionary(
    fc.oneof(fc.constantFrom(...NAMES), fc.string({ maxLength: 6 })),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(CASES)), extra, (format, fields) => {
      const { rules, body } = CASES[format] as Case
      const sent = { ...body, ...(fields as JsonObject) }
      for (const sender of SENDERS) {
        if (find(rules, sent, sender) !== undefined) continue
        for (const [own, granted] of [
          ['model', 'm'],
          ['stream', false],
          ['n', 1],
        ] as const) {
          if (Object.hasOwn(sent, own) && sent[own] !== null) expect([0, granted]).toContain(sent[own])
        }
      }
    }),
    { seed: SEED, numRuns: RUNS },
  )
})

test("every provider's other words for parameters are known to be harmless", () => {
  for (const { openai, embeddings } of PROVIDERS) {
    const words = Object.values(openai?.renamed ?? {}).map((name): JsonObject => ({ [name]: 1 }))
    const efforts = Object.values(openai?.reasoningEfforts ?? {})
    for (const fields of [...words, ...efforts]) expect(find(CHAT.rules, fields, 'end_user')).toBeUndefined()
    const dimensions = embeddings?.openai?.dimensions
    if (dimensions !== undefined) expect(find(EMBEDDINGS, { [dimensions]: 9 }, 'end_user')).toBeUndefined()
  }
})

test('a field that a table lists without a rule goes to no provider', () => {
  const listed = [CHAT, RESPONSES, ANTHROPIC, GEMINI, CONVERSE, COHERE, OLLAMA]
  for (const { names, rules } of listed) {
    for (const name of names) expect(rules.find(name)).toBeDefined()
  }
})
