import { message } from '../fakes/scripted-anthropic.ts'
import { messageItem, responseOf } from '../fakes/scripted-responses.ts'
import { completion, json, type UpstreamAnswer } from '../fakes/scripted-upstream.ts'

const NO_USAGE = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }

/** For each format a model whose provider uses it, and that provider's answer `x`. */
export const FORMAT_TARGETS: Readonly<Record<string, readonly [string, UpstreamAnswer]>> = {
  'openai-chat': ['groq/llama-3.3-70b-versatile', completion('x')],
  'openai-responses': ['openai/gpt-5-pro', responseOf(messageItem('x'))],
  'anthropic-messages': ['anthropic/claude-sonnet-4-6', message([{ type: 'text', text: 'x' }])],
  'gemini-content': [
    'gemini/gemini-3-flash-preview',
    json(200, { candidates: [{ content: { role: 'model', parts: [{ text: 'x' }] }, finishReason: 'STOP' }] }),
  ],
  'bedrock-converse': [
    'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    json(200, {
      output: { message: { role: 'assistant', content: [{ text: 'x' }] } },
      stopReason: 'end_turn',
      usage: NO_USAGE,
    }),
  ],
  'cohere-v2': [
    'cohere/command-a-03-2025',
    json(200, {
      id: 'c',
      finish_reason: 'COMPLETE',
      message: { role: 'assistant', content: [{ type: 'text', text: 'x' }] },
      usage: { tokens: { input_tokens: 1, output_tokens: 1 } },
    }),
  ],
  'ollama-chat': [
    'ollama/qwen3:8b',
    json(200, { model: 'q', message: { role: 'assistant', content: 'x' }, done: true, done_reason: 'stop' }),
  ],
}
