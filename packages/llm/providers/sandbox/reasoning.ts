import { createHash } from 'node:crypto'
import { SANDBOX_SIGNATURE } from '../../formats/shared/reasoning/sandbox-reasoning.ts'
import type { JsonObject } from '../../json/json-value.ts'
import { toObjects, toText } from '../../json/json-value.ts'
import { wholeEnd } from './whole-end.ts'

/** A caller's words in the reasoning: tool-call ids carry the text too, so it is short. */
const WORDS_CHARACTERS = 60

const CLAUDE = 'anthropic-claude-v1'
const GEMINI = 'google-gemini-v1'

/** Reasoning as a text, and signed in the two ways of the makers whose formats the gateway serves. */
export interface SandboxReasoning {
  readonly text: string
  readonly details: readonly JsonObject[]
}

/** The reasoning before an answer, or before the call of that id. The same words are always signed alike. */
export function reason(words: string, callId: string | undefined): SandboxReasoning {
  const text = `The caller wrote: ${words.slice(0, wholeEnd(words, WORDS_CHARACTERS))}`
  return {
    text,
    details: [
      { type: 'reasoning.text', format: CLAUDE, text, signature: sign(text), index: 0 },
      {
        type: 'reasoning.encrypted',
        format: GEMINI,
        data: sign(callId ?? ''),
        index: 1,
        ...(callId === undefined ? {} : { id: callId }),
      },
    ],
  }
}

/**
 * The number of assistant messages whose reasoning came back as it was signed; undefined: a signature was changed on the
 * way, for which real providers refuse the request. What other providers signed does not count.
 */
export function countSigned(messages: readonly JsonObject[]): number | undefined {
  let count = 0
  for (const message of messages) {
    const own = toObjects(message.reasoning_details).filter(isOfSandbox)
    if (!own.every(isValid)) return undefined
    if (own.length > 0) count++
  }
  return count
}

function isOfSandbox({ signature, data }: JsonObject): boolean {
  return (toText(signature) ?? toText(data) ?? '').startsWith(SANDBOX_SIGNATURE)
}

function isValid({ type, text, signature, data, id }: JsonObject): boolean {
  return type === 'reasoning.text' ? signature === sign(toText(text) ?? '') : data === sign(toText(id) ?? '')
}

function sign(text: string): string {
  return SANDBOX_SIGNATURE + createHash('sha256').update(text).digest('hex').slice(0, 24)
}
