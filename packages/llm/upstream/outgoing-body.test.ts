import { describe, expect, test } from 'vitest'
import { openAiEmbeddings } from '../embeddings/openai.ts'
import { anthropicMessages } from '../formats/anthropic-messages/client/client.ts'
import { bedrockConverse } from '../formats/bedrock-converse/client/client.ts'
import { cohereV2 } from '../formats/cohere-v2/client/client.ts'
import { geminiContent } from '../formats/gemini-content/client/client.ts'
import { ollamaChat } from '../formats/ollama-chat/client/client.ts'
import { openAiChat } from '../formats/openai-chat/client/client.ts'
import { openAiResponses } from '../formats/openai-responses/client/client.ts'
import type { ClientFormat } from '../formats/shared/client-format.ts'
import { openAiImages } from '../images/openai.ts'
import type { JsonObject } from '../json/json-value.ts'
import type { Provider } from '../provider/provider.ts'
import { findProvider } from '../providers/index.ts'
import type { ChatRequest } from '../request/chat-request.ts'
import { toSourceBody } from '../testing/recorded-requests.ts'
import { authorizeRequest, ReservedFieldError } from './authorize-request.ts'
import { findReserved } from './reserved-names.ts'
import type { Target } from './target.ts'
import type { EncodedRequest } from './upstream-request.ts'

/** The check of the outgoing body holds without any earlier check. */

const FORMATS: readonly (readonly [ClientFormat, provider: string])[] = [
  [openAiChat, 'groq'],
  [openAiResponses, 'openai'],
  [anthropicMessages, 'anthropic'],
  [geminiContent, 'gemini'],
  [bedrockConverse, 'bedrock'],
  [cohereV2, 'cohere'],
  [ollamaChat, 'ollama'],
]

function toTarget(provider: string): Target {
  const found = findProvider(provider) as Provider
  return { provider: found, model: 'their-model', baseUrl: 'https://a.example/v1', apiKey: 'k' }
}

const REQUEST: ChatRequest = {
  model: 'x',
  messages: [{ role: 'user', content: 'hi' }],
  stream: false,
  includeUsage: true,
  maxOutputTokens: 64,
  tools: [{ type: 'function', function: { name: 'f' } }],
}

const BY_KEY = { sender: 'key', isStream: false, choices: 1, maxOutputTokens: 64, addresses: 'any' } as const

/** The path that authorizeRequest refuses, or undefined. */
function findStop(encoded: EncodedRequest, target: Target): string | undefined {
  const request = { ...encoded, body: Buffer.from(encoded.body.toString()) }
  try {
    authorizeRequest(request, target, 0, { ...BY_KEY, model: target.model })
  } catch (error) {
    if (!(error instanceof ReservedFieldError)) throw error
    expect(request.headers.authorization ?? request.headers['x-api-key']).toBeUndefined()
    return error.path
  }
  return undefined
}

describe.each(FORMATS)('a body of $id', (format, provider) => {
  const target = toTarget(provider)
  const withOptions = (options: JsonObject): string | undefined =>
    findStop(
      format.encodeRequest({ ...REQUEST, providerOptions: { [provider]: options } }, target, undefined),
      target,
    )

  test.each<[JsonObject, string]>([
    [{ model: 'y' }, 'model'],
    [{ MODEL: 'y' }, 'MODEL'],
    [{ n: 100 }, 'n'],
    [{ stream: true }, 'stream'],
    [{ messages: [] }, 'messages'],
    [{ contents: [] }, 'contents'],
    [{ tools: [] }, 'tools'],
    [{ maxTokens: 9 }, 'maxTokens'],
    [{ container: 'c' }, 'container'],
    [{ extra_body: { a: [{ model: 'y' }] } }, 'extra_body.a[0].model'],
    [{ generationConfig: { max_output_tokens: 9 } }, 'generationConfig.max_output_tokens'],
    [{ inferenceConfig: { maxTokens: 9 } }, 'inferenceConfig.maxTokens'],
  ])('gets no credential where options set %j', (options, path) => {
    expect(withOptions(options)).toBe(`provider_options.${provider}.${path}`)
  })

  test('gets a credential where options set other fields', () => {
    expect(withOptions({ top_k: 5, novelty: { a: [1] }, metadata: { model: 'x' } })).toBeUndefined()
  })
})

// Ollama's format is rebuilt from known fields.
describe.each(FORMATS.filter(([{ id }]) => id !== 'ollama-chat'))('a body of $id', (format, provider) => {
  const target = toTarget(provider)
  const said =
    { 'openai-responses': 'input', 'gemini-content': 'contents' }[format.id as string] ?? 'messages'
  const passed = (fields: JsonObject): string | undefined => {
    const body = { [said]: [], ...fields }
    // Gemini's body passes through as the parser spelled it, others as bytes.
    const request = { ...REQUEST, passedBody: body }
    return findStop(format.encodeRequest(request, target, toSourceBody(format.id, body)), target)
  }

  test.each<[JsonObject, string]>([
    [{ bestOf: 3 }, 'bestOf'],
    [{ extraBody: { Model: 'y' } }, 'extraBody.Model'],
    [{ novelty: [{ tools: [] }] }, 'novelty[0].tools'],
  ])('gets no credential where it passes on %j', (fields, path) => {
    expect(passed(fields)).toBe(path)
  })

  test('gets no credential where it has another spelling of a known field, also with the value null', () => {
    expect(passed({ [said.toUpperCase()]: null })).toBe(said.toUpperCase())
    expect(passed({ novelty: null, metadata: { [said]: 'x' } })).toBeUndefined()
  })
})

test('options cannot replace the object that has the output cap', () => {
  const target = toTarget('gemini')
  for (const options of [{ generationConfig: null }, { generation_config: 9 }]) {
    const request = { ...REQUEST, providerOptions: { gemini: options } }
    const path = 'provider_options.gemini.generationConfig'
    expect(findStop(geminiContent.encodeRequest(request, target, undefined), target)).toBe(path)
  }
})

test('unknown fields of embeddings and images are checked', () => {
  const target = toTarget('openai')
  const rest = { extra_body: { model: 'y' } }
  const embedding = { model: 'x', input: ['a'], encoding: 'float', rest } as const
  expect(findStop(openAiEmbeddings.encodeRequest(embedding, target), target)).toBe('extra_body.model')
  const image = { model: 'x', prompt: 'a', n: 1, rest }
  expect(findStop(openAiImages.encodeRequest(image, target), target)).toBe('extra_body.model')
})

describe('findReserved', () => {
  test.each([
    'model',
    'mo-del',
    'ＭＯＤＥＬ',
    'mo\u200bdel',
    'model\u0000',
    'maxOutputTokens',
    'MAX_OUTPUT_TOKENS',
    'ſtream',
    'extra_body[model]',
    'a.model',
    'extra_body/model',
    'model_fallback',
    'context_window_fallback_dict',
    'contentPolicyFallbacks',
    'backup_model',
    'override_model',
    'target_models',
    'draft_model',
    'default-model',
    'model_group_alias',
    'base_url',
    'apiKey',
    'api_key',
    'custom_llm_provider',
    'container_id',
    'thread_id',
    'threadIds',
    'conversation_id',
    'parent_response_id',
    'x.thread_id',
    'num_images',
    'numberOfImages',
    'num_images_per_prompt',
    'n_images',
    'max_images',
    'num_outputs',
    'num_results',
    'batch_size',
    'batch_count',
    'samples',
    'sampleCount',
    'parameters[num_images]',
    'n_cmpl',
    'n_predict',
    'nPredict',
    'auto_max_new_tokens',
    'num_choices',
    'n_completions',
    'numCandidates',
    'number_of_responses',
    'num_replies',
    'choice_count',
    'best_of_n',
    'adapters',
    'lora_adapter',
    'peft_adapter_name',
    'lora_name',
    'loras',
    'image_loras',
    'kv_transfer_params',
    'disaggregated_params',
    'bootstrap_host',
    'remote_host',
    'session_params',
    'extra_headers',
    'extra_query',
    'callbacks',
    'callback_url',
    'webhook',
    'webhook_url',
    'notify_url',
    'aws_region_name',
    'aws_bedrock_runtime_endpoint',
    'vertex_location',
    'vertexai_project',
  ])('%j is reserved', name => {
    expect(findReserved({ [name]: null })).toBe(name)
  })

  test.each([
    'models_of_ships',
    'modelling',
    'top_k',
    'temperature',
    '',
    'x',
    'session_id',
    'response_idle',
    'allow_fallbacks',
    'image_size',
    'max_results',
    'sample_rate',
    'exploration',
    'adaptive',
    'num_search_results',
    'response_style',
    'completion_tokens',
    'callback_style',
    'awsome',
    'chat_template_kwargs',
    'max_thinking_tokens',
    'min_tokens',
    'stop_token_ids',
  ])('%j is not', name => {
    expect(findReserved({ [name]: { a: 1 } })).toBeUndefined()
  })

  test('JSON inside a string is checked, and refused where it is too deep', () => {
    expect(findReserved({ a: '{"b":[{"n":2}]}' })).toBe('a.b[0].n')
    expect(findReserved({ a: '{"b":' })).toBeUndefined()
    expect(findReserved({ a: `${'['.repeat(100_000)}${']'.repeat(100_000)}` })).toBeDefined()
  })
})
