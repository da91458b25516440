import { FIELDS as ANTHROPIC } from '../../formats/anthropic-messages/wire/fields.ts'
import { FIELDS as GEMINI } from '../../formats/gemini-content/wire/fields.ts'
import type { JsonObject } from '../../json/json-value.ts'
import { type Case, MARK, SCHEMA, URL, user } from './outgoing-case.ts'

const addition = (tool: JsonObject): JsonObject => ({ type: 'tool_addition', tool })
const define = (definition: JsonObject): JsonObject => ({ type: 'tool_definition', definition })

/** Tools that the provider runs, as `tools` declares them. */
const CLAUDE_HOSTED: readonly JsonObject[] = [
  { type: 'web_search_20250305', name: 'web_search' },
  { type: 'WEB_SEARCH_20250305', name: 'web_search' },
  { type: 'web_fetch_20250910', name: 'web_fetch' },
  { type: 'code_execution_20250825', name: 'code_execution' },
  { type: 'advisor_20260301', name: 'advisor', model: 'other' },
  { type: 'mcp_toolset', mcp_server_name: 's' },
  { type: 'tool_search_tool_regex', name: 'tool_search_tool_regex' },
  { type: 'novel_tool_20270101', name: 'novel' },
]

/** What tools that the provider ran leave in a conversation. */
const CLAUDE_HISTORY: readonly JsonObject[] = [
  {
    type: 'server_tool_use',
    id: 's',
    name: 'web_search',
    input: { type: 'web_search_20250305', tools: [{ type: 'mcp' }] },
    caller: { type: 'code_execution_20250825', tool_id: 't' },
  },
  {
    type: 'web_search_tool_result',
    tool_use_id: 's',
    content: [{ type: 'web_search_result', url: URL, title: 't', encrypted_content: 'x', page_age: null }],
  },
  {
    type: 'web_fetch_tool_result',
    tool_use_id: 's',
    content: {
      type: 'web_fetch_result',
      url: URL,
      content: { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } },
    },
  },
  { type: 'web_fetch_tool_result', tool_use_id: 's', content: { type: 'web_fetch_tool_result_error' } },
  {
    type: 'code_execution_tool_result',
    tool_use_id: 's',
    content: {
      type: 'code_execution_result',
      stdout: 'x',
      content: [{ type: 'code_execution_output' }],
    },
  },
  {
    type: 'bash_code_execution_tool_result',
    tool_use_id: 's',
    content: { type: 'bash_code_execution_result' },
  },
  {
    type: 'tool_search_tool_result',
    tool_use_id: 's',
    content: {
      type: 'tool_search_tool_search_result',
      tool_references: [{ type: 'tool_reference', tool_name: 'f' }],
    },
  },
  { type: 'advisor_tool_result', tool_use_id: 's', content: { type: 'advisor_result', text: 'x' } },
  { type: 'mcp_tool_use', id: 'm', name: 'f', server_name: 's', input: { tool: { type: 'mcp' } } },
  { type: 'mcp_tool_result', tool_use_id: 'm', content: [{ type: 'text', text: 'x' }] },
  { type: 'mcp_tool_listing', mcp_server_name: 's', tools: [{ name: 'f', input_schema: SCHEMA }] },
  { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } },
]

export const CLAUDE_AND_GEMINI_CASES: Readonly<Record<string, Case>> = {
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
        { type: 'browser_toolset_20260801', configs: { navigate: { enabled: false } } },
      ],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      thinking: { type: 'enabled', budget_tokens: 64 },
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
      [
        'tools[0]',
        {
          tools: [
            {
              type: 'web_fetch_20260318',
              name: 'web_fetch',
              url_sources: {
                client_tool_results: { type: 'only', tools: [{ type: 'tool_reference', name: 'f' }] },
              },
            },
          ],
        },
      ],
      ['tools[0]', { tools: [{ type: 'tool_search_tool_bm25_20251119', name: 's' }] }],
      ['messages[0].content[0]', user(addition({ type: 'tool_reference', name: 'f' }))],
      ['messages[0].content[0]', user(addition(define({ name: 'f', input_schema: SCHEMA })))],
      ['messages[0].content[0]', user(addition(define({ type: 'bash_20250124', name: 'bash' })))],
      [
        'messages[0].content[0]',
        user({
          type: 'compaction',
          content: 'x',
          encrypted_content: 'y',
          tool_changes: [addition(define({ name: 'f', input_schema: SCHEMA }))],
        }),
      ],
      ['context_management', { context_management: { edits: [] } }],
      ['anthropic_beta', { anthropic_beta: ['x'] }],
      ['messages[0].content[0]', user({ type: 'server_tool_use', id: 'x', name: 'y', input: {} })],
      ['messages[0].content[0]', user(addition({ type: 'mcp_tool_reference', name: 'f', server_name: 's' }))],
      ['messages[0].content[0]', user(addition({ type: 'mcp_toolset_reference', server_name: 's' }))],
      ...CLAUDE_HISTORY.map((block): [string, JsonObject] => ['messages[0].content[0]', user(block)]),
      ['messages[0].content[0]', user({ type: 'novel', tool: { name: 'f', input_schema: SCHEMA } })],
      ['messages[0].content[0]', user({ type: 'novel', a: { type: 'bash_20250124', name: 'bash' } })],
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
      ...['web_search_20260318', 'web_fetch_20260318', 'advisor_20260301', 'mcp_toolset', 'Custom'].map(
        (type): [string, JsonObject] => [
          'messages[0].content[0].tool.definition',
          user(addition(define({ type, name: 'x' }))),
        ],
      ),
      ...CLAUDE_HOSTED.flatMap((tool): [string, JsonObject][] => [
        ['messages[0].content[0].tool', user(addition(tool))],
        [
          'messages[0].content[0].tool_changes[0].tool',
          user({ type: 'compaction', tool_changes: [addition(tool)] }),
        ],
        [
          'messages[0].content[0].tool_changes[0].tool',
          user({ type: 'novel', tool_changes: [addition(tool)] }),
        ],
        ['messages[0].content[0].tool', user({ type: 'novel', tool })],
        ['messages[0].content[0].TOOLS[0]', user({ type: 'novel', TOOLS: [tool] })],
        ['messages[0].content[0].a.b[0]', user({ type: 'novel', a: { b: [tool] } })],
        ['messages[0].content[0].tool', user({ type: 'text', text: 'a', tool })],
        [
          'messages[0].content[0].content[0]',
          user({ type: 'tool_result', tool_use_id: 't', content: [tool] }),
        ],
        ['messages[0].content[0]', user(tool)],
        ['messages[0].content', { messages: [{ role: 'user', content: tool }] }],
        ['messages[0].novelty', { messages: [{ role: 'user', content: 'a', novelty: tool }] }],
        ['system[0]', { system: [tool] }],
        ['system[0].tool', { system: [addition(tool)] }],
      ]),
      [
        'messages[0].content[0].caller',
        user({ type: 'novel', caller: { type: 'web_search_20250305', name: 'web_search' } }),
      ],
      [
        'messages[0].content[0].a.Type',
        user({ type: 'novel', a: { Type: 'web_search_20250305', name: 'w' } }),
      ],
      ['messages[0].content[0].mcp_servers', user({ type: 'novel', mcp_servers: [{ url: URL }] })],
      ['messages[0].content[0].tool.model', user({ type: 'novel', tool: { name: 'f', model: 'other' } })],
      [
        'messages[0].content[0].tool.definition.model',
        user(addition(define({ name: 'f', input_schema: SCHEMA, model: 'other' }))),
      ],
      [
        'messages[0].content[0].tool_changes[0].tool.definition',
        user({ type: 'compaction', tool_changes: [addition(define({ type: 'code_execution_20260521' }))] }),
      ],
      ['tools[0]', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
      ['tools[0]', { tools: [{ type: 'Web_Fetch_20250910', name: 'b' }] }],
      ['tools[0]', { tools: [{ type: 'code_execution_20260120', name: 'b' }] }],
      ['tools[0].Type', { tools: [{ name: 'f', Type: 'web_search_20250305' }] }],
      ['tools[0].container', { tools: [{ type: 'bash_20250124', name: 'b', container: 'c' }] }],
      ['speed', { speed: 'fast' }],
      ['service_tier', { service_tier: 'priority' }],
      ['max_tokens', { max_tokens: 65 }],
      ['thinking.budget_tokens', { thinking: { type: 'enabled', budget_tokens: 65 } }],
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
      [
        'contents[0].parts[0].toolCall',
        { contents: [{ parts: [{ toolCall: { toolType: 'GOOGLE_SEARCH_WEB', args: { tools: [{}] } } }] }] },
      ],
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
      ...['googleSearch', 'google_search', 'codeExecution', 'url_context'].flatMap(
        (name): [string, JsonObject][] => [
          [`contents[0].parts[0].novelty.${name}`, { contents: [{ parts: [{ novelty: { [name]: {} } }] }] }],
          [`contents[0].tools[0].${name}`, { contents: [{ parts: [], tools: [{ [name]: {} }] }] }],
          [`systemInstruction.parts[0].${name}`, { systemInstruction: { parts: [{ [name]: {} }] } }],
        ],
      ),
      [
        'safetySettings[0].extraBody.model',
        { safetySettings: [{ threshold: 'a', extraBody: { model: 1 } }] },
      ],
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
}
