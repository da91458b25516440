import type { OpenAiModelRule } from '../provider/openai-deviations.ts'
import type { FormatRule } from '../provider/provider.ts'

/** Rules of OpenAI's own models, on every provider that hosts them. */

const SAMPLING = [
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'logprobs',
  'top_logprobs',
  'logit_bias',
]

export const OPENAI_MODEL_RULES: readonly OpenAiModelRule[] = [
  { models: ['gpt-5-chat*'] },
  // These cannot reason, and refuse to be asked for it.
  { models: ['gpt-3.5*', 'gpt-35*', 'gpt-4*', 'chatgpt-4o*'], unsupported: ['reasoning_effort'] },
  // These answer without reasoning unless an effort is named.
  {
    models: [
      'gpt-5.1',
      'gpt-5.1-2*',
      'gpt-5.2',
      'gpt-5.2-2*',
      'gpt-5.4',
      'gpt-5.4-2*',
      'gpt-5.4-mini*',
      'gpt-5.4-nano*',
    ],
    reasons: true,
    unsupported: SAMPLING,
    unsupportedWhile: 'asked',
  },
  { models: ['gpt-5.*', 'gpt-6*'], reasons: true, unsupported: SAMPLING, unsupportedWhile: 'unless-none' },
  { models: ['o3-mini*'], reasons: true, unsupported: SAMPLING },
  { models: ['o1*', 'o3*', 'o4-*', 'gpt-5*', 'codex-*'], reasons: true, unsupported: [...SAMPLING, 'stop'] },
]

export const OPENAI_FORMAT_RULES: readonly FormatRule[] = [
  {
    format: 'openai-responses',
    models: ['gpt-*', 'chatgpt-*', 'o1*', 'o3*', 'o4-*', 'codex-*', 'computer-use-*'],
    when: 'same-format',
  },
  // Chat completions do not know them.
  {
    format: 'openai-responses',
    models: [
      ...['gpt-5-pro*', 'gpt-5.*-pro*', 'o1-pro*', 'o3-pro*', 'gpt-5-codex*', 'gpt-5.*-codex*', 'codex-*'],
      ...['o3-deep-research*', 'o4-mini-deep-research*', 'computer-use-*'],
    ],
  },
  // Chat completions refuse tools where an effort other than `none` is named, and since GPT-5.6 where none is named.
  { format: 'openai-responses', models: ['gpt-5.4*', 'gpt-5.5*'], when: 'tools-with-reasoning' },
  { format: 'openai-responses', models: ['gpt-5.6*'], when: 'tools-unless-none' },
  // Some of these do not take the effort `none`.
  { format: 'openai-responses', models: ['gpt-6*'], when: 'tools' },
]
