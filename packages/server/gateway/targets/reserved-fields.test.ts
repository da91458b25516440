import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

let app: TestApp

beforeAll(async () => {
  app = await openTestApp()
})

afterAll(async () => {
  await app.close()
})

const OK = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] }

async function expectFault(response: Response, status: number, code: string, param: string): Promise<void> {
  expect({ status: response.status, body: await response.json() }).toMatchObject({
    status,
    body: { error: { code, param } },
  })
}

/** Fields that the gateway authorizes, fields that it relies on, and fields that multiply or change the price. */
const MODEL_FIELDS = [
  'models',
  'route',
  'routes',
  'fallbacks',
  'fallback_models',
  'provider_fallbacks',
  'plugins',
]
const MORE_MODEL_FIELDS = ['preset', 'safety_model', 'prompt_id', 'model_list', 'api_base']
const PRICED_FIELDS = [
  'best_of',
  'num_return_sequences',
  'use_beam_search',
  'search_settings',
  'search_options',
  'web_search',
  'search',
  'prediction',
  'audio',
  'mcp_servers',
  'compound_custom',
  'speed',
  'inference_geo',
  'performance_config',
  'guardrail_config',
  'guardrails',
  'model_armor_config',
  'enable_code_interpreter',
  'connectors',
]
const RELIED_ON = [
  'model',
  'messages',
  'input',
  'prompt',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'functions',
  'function_call',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'n',
  'service_tier',
]
const EVERYWHERE = [...MODEL_FIELDS, ...MORE_MODEL_FIELDS, ...PRICED_FIELDS]

describe('provider_options in the native format may not set', () => {
  test.each([
    ...EVERYWHERE,
    ...RELIED_ON,
    'MODEL',
    'maxTokens',
    'modelId',
    'system',
    'systemInstruction',
    'system_instruction',
    'contents',
    'toolConfig',
    'previous_response_id',
    'conversation',
    'background',
    'instructions',
    'candidateCount',
    'num_predict',
    'performanceConfig',
    'guardrailConfig',
    'promptVariables',
  ])('%s', async field => {
    const response = await app.call('/v1/chat', { ...OK, provider_options: { openai: { [field]: 1 } } })
    await expectFault(response, 400, 'invalid_request', `provider_options.openai.${field}`)
  })

  test.each([
    ['generationConfig.maxOutputTokens', { generationConfig: { maxOutputTokens: 1 } }],
    ['generation_config.candidate_count', { generation_config: { candidate_count: 2 } }],
    ['inferenceConfig.maxTokens', { inferenceConfig: { maxTokens: 1 } }],
    ['additionalModelRequestFields.max_tokens', { additionalModelRequestFields: { max_tokens: 1 } }],
    ['options.num_predict', { options: { num_predict: 1 } }],
    ['extra_body.model', { extra_body: { model: 'x' } }],
    ['provider.order', { provider: { order: ['x'] } }],
    ['reasoning.mode', { reasoning: { mode: 'pro' } }],
    ['modalities', { modalities: ['text', 'audio'] }],
  ])('%s, within an object that only contains fields', async (path, options) => {
    const response = await app.call('/v1/chat', { ...OK, provider_options: { openai: options } })
    await expectFault(response, 400, 'invalid_request', `provider_options.openai.${path}`)
  })

  test('accepts other fields, also one whose value has such a name', async () => {
    const options = {
      logit_bias: { model: 1 },
      metadata: { model: 'x' },
      modalities: ['text'],
      provider: { zdr: true },
    }
    expect((await app.call('/v1/chat', { ...OK, provider_options: { openai: options } })).status).toBe(200)
  })
})

describe('a Responses body may not set', () => {
  const BODY = { model: 'sandbox/echo', input: 'hi' }

  test.each([...EVERYWHERE, 'prompt'])('%s', async field => {
    const response = await app.call('/openai/v1/responses', { ...BODY, [field]: ['x'] })
    await expectFault(response, 400, 'invalid_request', field)
  })

  test.each(['MODEL', 'Tools', 'Background', 'Previous_response_id', 'INSTRUCTIONS'])(
    '%s, in another case',
    async field => {
      const response = await app.call('/openai/v1/responses', { ...BODY, [field]: 'x' })
      await expectFault(response, 400, 'request_validation_failed', field)
    },
  )
})

/** The field's name in Gemini's spelling. */
const toCamel = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

describe("a body of Gemini's format may not set, in either spelling, at its top or in generationConfig", () => {
  const ROUTE = '/gemini/v1beta/models/sandbox/echo:generateContent'
  const BODY = { contents: [{ parts: [{ text: 'hi' }] }] }

  test.each([...EVERYWHERE, 'messages', 'prompt', 'stream', 'max_tokens', 'n', 'num_predict'])(
    '%s',
    async field => {
      for (const name of [field, toCamel(field)]) {
        for (const body of [{ [name]: ['x'] }, { generationConfig: { [name]: ['x'] } }]) {
          const response = await app.call(ROUTE, { ...BODY, ...body })
          const param = name in body ? toCamel(field) : `generationConfig.${toCamel(field)}`
          expect([response.status, await response.json()]).toMatchObject([
            400,
            { error: { details: [{ reason: 'invalid_request', metadata: { param } }] } },
          ])
        }
      }
    },
  )
})

describe("a body of Ollama's format may not set, at its top or among the options", () => {
  test.each([...EVERYWHERE, 'prompt', 'system', 'template', 'raw', 'max_tokens', 'n'])('%s', async field => {
    for (const body of [{ [field]: ['x'] }, { options: { [field]: ['x'] } }]) {
      const response = await app.call('/ollama/api/chat', { ...OK, stream: false, ...body })
      const param = field in body ? field : `options.${field}`
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { code: 'invalid_request', param },
      ])
    }
  })
})

describe("an unknown field of OpenAI's format may not be", () => {
  test.each(EVERYWHERE)('%s', async field => {
    const response = await app.call('/openai/v1/chat/completions', { ...OK, [field]: ['x'] })
    await expectFault(response, 400, 'invalid_request', field)
  })

  test.each([
    ['service_tier', 'priority', 'service_tier'],
    ['service_tier', 'flex', 'service_tier'],
    ['modalities', ['text', 'audio'], 'modalities'],
    ['provider', { only: ['x'] }, 'provider.only'],
    ['provider', { ignore: ['x'] }, 'provider.ignore'],
    ['provider', { require_parameters: true }, 'provider.require_parameters'],
    ['reasoning', { mode: 'pro' }, 'reasoning.mode'],
    ['tools', [{ type: 'hologram' }], 'tools[0].type'],
    ['n', 129, 'n'],
    ['n', 0, 'n'],
  ])('%s: %j', async (field, value, param) => {
    const response = await app.call('/openai/v1/chat/completions', { ...OK, [field]: value })
    await expectFault(response, 400, 'invalid_request', param)
  })

  test.each([...EVERYWHERE, ...RELIED_ON])('%s in another case, next to the real one', async field => {
    const response = await app.call('/openai/v1/chat/completions', { ...OK, [field.toUpperCase()]: 1 })
    await expectFault(response, 400, 'request_validation_failed', field.toUpperCase())
  })

  test.each([
    ['service_tier', 'auto'],
    ['service_tier', 'default'],
    ['modalities', ['text']],
    ['provider', { zdr: true, data_collection: 'deny', max_price: { prompt: 1 }, allow_fallbacks: false }],
    ['reasoning', { mode: 'standard' }],
    ['web_search_options', null],
  ])('accepts %s: %j', async (field, value) => {
    const response = await app.call('/openai/v1/chat/completions', { ...OK, [field]: value })
    expect(response.status).toBe(200)
  })

  test.each([
    ['web_search_options', {}, 'web_search_options'],
    ['search_parameters', { mode: 'on' }, 'search_parameters'],
    ['enable_search', true, 'enable_search'],
    ['tools', [{ type: 'web_search' }], 'tools[0]'],
    ['tools', [{ type: 'builtin_function', function: { name: '$web_search' } }], 'tools[0]'],
  ])('leaves out a search of the provider by %s: %j', async (field, value, param) => {
    const response = await app.call('/openai/v1/chat/completions', { ...OK, [field]: value })
    expect([response.status, response.headers.get('x-rideau-dropped-params')]).toEqual([200, param])
  })
})

/**
 * Expects a refusal in formats with flat errors. It must not depend on the target: the field is reserved, not merely
 * unsupported by one provider.
 */
async function expectFlatFault(response: Response, code: string, param: string): Promise<void> {
  const message = expect.not.stringContaining('does not support')
  expect([response.status, await response.json()]).toMatchObject([400, { code, param, message }])
}

describe('a Cohere body may not set', () => {
  const post = (fields: object) => app.call('/cohere/v2/chat', { ...OK, ...fields })
  const OWN = new Set(['model', 'messages', 'stream', 'tools', 'tool_choice', 'max_tokens'])

  test.each([...EVERYWHERE, ...RELIED_ON.filter(name => !OWN.has(name))])('%s', async field => {
    await expectFlatFault(await post({ [field]: ['x'] }), 'invalid_request', field)
  })

  test('any of them, within an object that only contains fields', async () => {
    await expectFlatFault(await post({ extra_body: { model: 'x' } }), 'invalid_request', 'extra_body.model')
  })

  test('leaves out a tool that the provider runs', async () => {
    const answer = await post({ tools: [{ type: 'web_search' }] })
    expect([answer.status, answer.headers.get('x-rideau-dropped-params')]).toEqual([200, 'tools[0]'])
  })

  test.each(['MODEL', 'Messages', 'maxTokens', 'Max_Tokens', 'STREAM', 'toolChoice'])(
    '%s, in another case',
    async field => {
      await expectFlatFault(await post({ [field]: 1 }), 'request_validation_failed', field)
    },
  )
})

describe('a Converse body may not set', () => {
  const BODY = { messages: [{ role: 'user', content: [{ text: 'hi' }] }] }
  const post = (fields: object) => app.call('/bedrock/model/sandbox/echo/converse', { ...BODY, ...fields })
  const own = ['guardrailConfig', 'promptVariables', 'modelId', 'maxTokens']
  const RELIED = RELIED_ON.filter(name => name !== 'messages' && name !== 'service_tier')
  const OTHERS = EVERYWHERE.filter(name => name !== 'performance_config')

  test.each([...OTHERS, ...RELIED, ...own])('%s', async field => {
    await expectFlatFault(await post({ [field]: ['x'] }), 'invalid_request', field)
  })

  test.each([...EVERYWHERE, ...RELIED_ON, 'system', 'maxTokens', 'MODEL'])(
    'additionalModelRequestFields.%s',
    async field => {
      const response = await post({ additionalModelRequestFields: { [field]: ['x'] } })
      await expectFlatFault(response, 'invalid_request', `additionalModelRequestFields.${field}`)
    },
  )

  test.each<[string, object]>([
    ['serviceTier.type', { serviceTier: { type: 'priority' } }],
    ['performanceConfig.latency', { performanceConfig: { latency: 'optimized' } }],
    ['inferenceConfig.max_output_tokens', { inferenceConfig: { max_output_tokens: 9 } }],
    ['inferenceConfig.n', { inferenceConfig: { n: 2 } }],
    [
      'additionalModelRequestFields.inferenceConfig.maxTokens',
      { additionalModelRequestFields: { inferenceConfig: { maxTokens: 9 } } },
    ],
    ['toolConfig.tools[0]', { toolConfig: { tools: [{ systemTool: { name: 'nova_grounding' } }] } }],
    [
      'messages[0].content[0].image.source.s3Location',
      {
        messages: [
          {
            role: 'user',
            content: [{ image: { format: 'png', source: { s3Location: { uri: 's3://b/k' } } } }],
          },
        ],
      },
    ],
  ])('%s: %j', async (param, fields) => {
    await expectFlatFault(await post(fields), 'invalid_request', param)
  })

  test.each(['Messages', 'InferenceConfig', 'inference_config', 'ToolConfig', 'System', 'service_tier'])(
    '%s, in another case',
    async field => {
      await expectFlatFault(await post({ [field]: {} }), 'request_validation_failed', field)
    },
  )

  test('MaxTokens, in another case within its object', async () => {
    const response = await post({ inferenceConfig: { MaxTokens: 9 } })
    await expectFlatFault(response, 'request_validation_failed', 'inferenceConfig.MaxTokens')
  })

  test.each<object>([
    { serviceTier: { type: 'default' }, performanceConfig: { latency: 'standard' } },
    { guardrailConfig: null, requestMetadata: { model: 'x' } },
  ])('accepts %j', async fields => {
    expect((await post(fields)).status).toBe(200)
  })
})
