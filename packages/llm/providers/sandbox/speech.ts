import type { JsonObject } from '../../json/json-value.ts'

/** What was said, before it is put in a plain or a streamed form. */
export interface SandboxSpeech {
  readonly model: string
  readonly text: string | undefined
  readonly toolCall: { readonly name: string; readonly arguments: string } | undefined
  readonly finishReason: 'stop' | 'length' | 'tool_calls'
  readonly usage: JsonObject
}
