import { OPENAI_RULES as EMBEDDINGS } from '../../embeddings/embedding-rules.ts'
import { FIELDS as CONVERSE } from '../../formats/bedrock-converse/wire/fields.ts'
import { FIELDS as COHERE } from '../../formats/cohere-v2/wire/fields.ts'
import { FIELDS as OLLAMA } from '../../formats/ollama-chat/wire/fields.ts'
import { FIELDS as COMPLETIONS } from '../../formats/openai-completions/fields.ts'
import { OPENAI_RULES as IMAGES } from '../../images/image-rules.ts'
import type { JsonObject } from '../../json/json-value.ts'
import { type Case, CHAT_TOOL, SCHEMA, URL, user } from './outgoing-case.ts'

export const OTHER_CASES: Readonly<Record<string, Case>> = {
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
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 64 }, top_k: 5 },
      outputConfig: {
        textFormat: { type: 'json_schema', structure: { jsonSchema: { name: 'n', schema: '{}' } } },
        effort: 'low',
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
      ['messages[0].content[0].toolAddition', user({ toolAddition: { tool: { name: 'f' } } })],
      ['requestMetadata', { requestMetadata: { a: { b: 'x' } } }],
      [
        'messages[0].content[0].document.source.content[0].image',
        user({
          document: { name: 'n', source: { content: [{ image: { source: { bytes: 'QUJD' } } }] } },
        }),
      ],
      [
        'messages[0].content[0].searchResult.content[0].novelty',
        user({ searchResult: { source: 's', title: 't', content: [{ novelty: {} }] } }),
      ],
      [
        'messages[0].content[0].citationsContent.citations[0].sourceContent[0].novelty',
        user({ citationsContent: { content: [], citations: [{ sourceContent: [{ novelty: {} }] }] } }),
      ],
      ['messages[0].content[0].video', user({ video: { format: 'mp4', source: { bytes: 'QUJD' } } })],
    ],
    stored: [],
    refused: [
      ...['system', 'toolConfig.tools'].map((place): [string, JsonObject] => {
        const marks = [{ cachePoint: { type: 'default', systemTool: { name: 'nova_grounding' } } }]
        const fields = place === 'system' ? { system: marks } : { toolConfig: { tools: marks } }
        return [`${place}[0].cachePoint.systemTool`, fields]
      }),
      ['toolConfig.systemTools', { toolConfig: { systemTools: [{ name: 'nova_grounding' }] } }],
      [
        'messages[0].content[0].toolAddition.tool.systemTool',
        user({ toolAddition: { tool: { systemTool: { name: 'nova_grounding' } } } }),
      ],
      [
        'messages[0].content[0].toolAddition.definition',
        user({ toolAddition: { tool: { name: 'f' }, definition: {} } }),
      ],
      [
        'messages[0].content[0].toolAddition.tool.type',
        user({ toolAddition: { tool: { type: 'web_search_20250305', name: 'web_search' } } }),
      ],
      [
        'messages[0].content[0].novelty.systemTool',
        user({ novelty: { systemTool: { name: 'nova_grounding' } } }),
      ],
      [
        'messages[0].content[0].tools[0].systemTool',
        user({ tools: [{ systemTool: { name: 'nova_grounding' } }] }),
      ],
      [
        'messages[0].content[0].novelty',
        user({ novelty: { type: 'web_search_20250305', name: 'web_search' } }),
      ],
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
      safety_mode: 'STRICT',
      k: 1,
      p: 0.5,
    },
    ofKeys: [
      ['novelty', { novelty: 1 }],
      ['messages[0].content[0]', user({ type: 'novel' })],
      ['citation_options.novelty', { citation_options: { novelty: 1 } }],
      ['safety_mode', { safety_mode: 'OFF' }],
    ],
    stored: [],
    refused: [
      ['tools[0]', { tools: [{ type: 'web_search' }] }],
      ['tools[0].server_url', { tools: [{ ...CHAT_TOOL, server_url: 'x' }] }],
      [
        'messages[0].tools[0]',
        { messages: [{ role: 'user', content: 'a', tools: [{ type: 'web_search' }] }] },
      ],
      ['messages[0].content[0]', user({ type: 'web_search' })],
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
  completions: {
    rules: COMPLETIONS.rules,
    body: { model: 'm', prompt: 'a', n: 1, max_tokens: 64, stream: false },
    ofKeys: [['novelty', { novelty: 1 }]],
    stored: [],
    refused: [
      ['prompt', { prompt: ['a', 'b'] }],
      ['prompt', { prompt: [[1], [2]] }],
      ['prompt', { prompt: [1, 'a'] }],
      ['prompt', { prompt: ['a', [1]] }],
      ['prompt', { prompt: {} }],
      ['n', { n: 2 }],
      ['max_tokens', { max_tokens: 0 }],
    ],
  },
  images: {
    rules: IMAGES,
    body: {
      ...{ model: 'm', prompt: 'a', n: 1, size: '1024x1024', images: [{ image_url: URL }] },
      ...{ output_compression: 80, style: 'vivid' },
    },
    ofKeys: [['novelty', { novelty: 1 }]],
    stored: [['images[0].file_id', { images: [{ file_id: 'f' }] }]],
    refused: [
      ['n', { n: 2 }],
      ['num_images', { num_images: 9 }],
      ['samples', { samples: 9 }],
      ['size', { size: ['4096x4096'] }],
      ['quality', { quality: ['high'] }],
    ],
  },
}
