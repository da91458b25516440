import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../json/json-value.ts'
import { measureMs } from '../testing/measure-ms.ts'
import { findReserved, isReservedName } from './reserved-names.ts'

test.each([
  [
    'another model',
    'draft_model_id safety_model_id base_model_name hf_model_name deployment_name specific_deployment model_preferences model_info router router_config',
  ],
  [
    'another server, its key, and where the answer goes',
    'endpoint endpoint_url azure_endpoint azure_ad_token api_host base_uri wx_url tenant_id client_secret default_headers custom_headers http_headers cookies langfuse_host gcs_bucket_name output_s3',
  ],
  ['sent again, or answered from a cache', 'max_retries num_retries retry_policy cache cache_namespace'],
  [
    'tools that a provider runs',
    'google_maps code_interpreter mcp mcp_server mcp_servers web_search_preview image_generation enable_web_search systemTools toolsets',
  ],
  [
    'the output cap',
    'max_response_tokens max_response_output_tokens max_generation_tokens token_limit gen_len',
  ],
  ['several answers', 'parallel_samples num_return beam_size num_beams beam_width'],
  ['tokens of an image', 'mm_processor_kwargs max_dynamic_patch min_pixels max_pixels'],
  ['filters', 'guardrailIdentifier guardrail_id amazon-bedrock-guardrailConfig'],
])('the words reserve names for %s', (_, names) => {
  expect(names.split(' ').filter(name => !isReservedName(name))).toEqual([])
})

test('names of other settings are free', () => {
  const names =
    'min_tokens max_thinking_tokens max_input_tokens max_context_tokens max_prompt_tokens truncate_prompt_tokens stop_token_ids bad_words_token_ids return_token_ids skip_special_tokens pad_token_id thinking_budget budget_tokens max_tool_calls cache_prompt cache_salt top_k min_p repetition_penalty context_length disable_web_search web_search_disabled search_domain_filter return_images safe_prompt enable_thinking priority seed'
  const reserved = names.split(' ').filter(isReservedName)
  expect(reserved).toEqual([])
})

test.each([
  ['extra_body.model', true],
  ['a[b][c][model]', true],
  ['[a][b][c][d]', false],
  ['a.b.c.d', false],
  ['a.b.c.d.e', true],
  ['[a][b][c][d][e]', true],
])(
  'a name that stands for nested fields is reserved for one of them, or for more than four: %s',
  (name, isFound) => {
    expect(findReserved({ [name]: 1 })).toBe(isFound ? name : undefined)
  },
)

/** 60,000 names of one form, which are no reserved ones. */
function toMany(form: string): JsonObject {
  return Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`${form}${at}`, true]))
}

describe('a body of very many names', () => {
  test('that stand for nested fields is checked at once', () => {
    const usedMs = measureMs(() => {
      expect(findReserved(toMany('z.b.b.b'))).toBe('z.b.b.b12168')
    })
    expect(usedMs).toBeLessThan(400)
  })

  test.each([
    ['long', 'max'.repeat(64)],
    ['nested', `${'max'.repeat(15)}z.`.repeat(4)],
    ['in capitals', `${'Ma_X'.repeat(11)}.`.repeat(4)],
    ['in other letters', `${'mäxſ'.repeat(11)}.`.repeat(4)],
    ['in letters of another script', 'ﷺ'.repeat(58)],
  ])('that are %s is refused once they are too much to check', (_, form) => {
    const fields = toMany(form)
    const usedMs = measureMs(() => {
      expect(findReserved({ a: [fields] })).toMatch(/^a\[0\]\../)
      expect(findReserved({ reasoning: fields })).toMatch(/^reasoning\../)
    })
    expect(usedMs).toBeLessThan(400)
  })

  test('may have half a million characters in them', () => {
    const fields = (count: number): JsonObject =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`${'z'.repeat(60)}${at + 1_000}`, 1]))
    expect(findReserved(fields(8_191))).toBeUndefined()
    expect(findReserved(fields(8_193))).toBe(`${'z'.repeat(60)}9192`)
  })
})

test('a name of more than 64 characters is a spelling of no reserved one', () => {
  expect(isReservedName(`${'_'.repeat(59)}model`)).toBe(true)
  expect(isReservedName(`${'_'.repeat(60)}model`)).toBe(false)
})
