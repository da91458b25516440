import { json, stream, type UpstreamAnswer } from './scripted-upstream.ts'

const USAGE = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 6 },
  total_tokens: 30,
}

function response(fields: Record<string, unknown>): Record<string, unknown> {
  return {
    id: 'resp_scripted',
    object: 'response',
    created_at: 1_700_000_000,
    status: 'completed',
    error: null,
    incomplete_details: null,
    model: 'scripted-model',
    usage: USAGE,
    ...fields,
  }
}

export function messageItem(text: string): Record<string, unknown> {
  return {
    type: 'message',
    id: 'msg_1',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  }
}

/** An answer without a stream in OpenAI's Responses format. */
export function responseOf(...output: Record<string, unknown>[]): UpstreamAnswer {
  return json(200, response({ output }))
}

function frame(event: Record<string, unknown>): string {
  return `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`
}

/** Streams an answer in OpenAI's Responses format, with texts and arguments in one event per word. */
export function streamedResponseOf(...output: Record<string, unknown>[]): UpstreamAnswer {
  return stream(...responseFrames(...output))
}

export function responseFrames(...output: Record<string, unknown>[]): string[] {
  const created = response({ status: 'in_progress', output: [], usage: null })
  const frames = [frame({ type: 'response.created', response: created })]
  for (const [at, item] of output.entries()) {
    frames.push(
      frame({
        type: 'response.output_item.added',
        output_index: at,
        item: { ...item, content: [], arguments: '' },
      }),
    )
    const text =
      (item.content as { text: string }[] | undefined)?.[0]?.text ?? (item.arguments as string | undefined)
    const type =
      item.type === 'message' ? 'response.output_text.delta' : 'response.function_call_arguments.delta'
    for (const word of text?.split(/(?<= )/) ?? []) {
      frames.push(
        frame({ type, item_id: item.id, output_index: at, content_index: 0, delta: word, logprobs: [] }),
      )
    }
    frames.push(frame({ type: 'response.output_item.done', output_index: at, item }))
  }
  frames.push(frame({ type: 'response.completed', response: response({ output }) }))
  return frames
}
