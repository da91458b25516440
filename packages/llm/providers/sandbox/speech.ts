import type { JsonObject } from '../../json/json-value.ts'
import type { SandboxReasoning } from './reasoning.ts'

/** What was said, before it is put in a plain or a streamed form. */
export interface SandboxSpeech {
  readonly model: string
  readonly reasoning: SandboxReasoning | undefined
  readonly text: string | undefined
  readonly toolCall: SandboxCall | undefined
  readonly finishReason: 'stop' | 'length' | 'tool_calls'
  readonly usage: JsonObject
  /** The number of equal answers. */
  readonly choices: number
}

export interface SandboxCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}
