import type { Json, JsonObject } from '../json/json-value.ts'

/** What decoders of all formats read of an answer besides short fields. */
const READ = ['choices', 'output', 'content', 'candidates', 'message']
/** Objects and lists of what is read. Models write some hundred, and 128,000 tokens of arguments have fewer. */
const MAX_PARTS = 32_768
/** Probabilities of tokens, of which there are many. No decoder reads them. */
const UNREAD = /prob/i
/** Values that are encoded, or decoded from base64, when an answer is decoded. */
const CONVERTED: ReadonlySet<string> = new Set(['arguments', 'args', 'input', 'redactedContent'])
/** Their texts together, in characters. Calls have fewer (gateway/attempts/answered-calls.ts), and reasoning some hundred thousand. */
const MAX_CONVERTED = 8 * 1024 * 1024

/**
 * Throws if a whole answer of a chat has more than models write. It is decoded at once, and a provider that a tenant runs may send 64 MiB:
 * lists of 170,000 parts took 40 to 340 ms beyond their parsing, and long arguments 60 to 90.
 */
export function assertBoundedAnswer(body: JsonObject): void {
  const walk = new AnswerWalk()
  for (const name of READ) walk.visit(body[name], false)
}

class AnswerWalk {
  #parts = MAX_PARTS
  #room = MAX_CONVERTED

  visit(value: Json | undefined, isConverted: boolean): void {
    if (typeof value === 'string' && isConverted) {
      this.#room -= value.length
      if (this.#room < 0) throw new Error('the answer has too long arguments of calls, or reasoning')
    }
    if (typeof value !== 'object' || value === null) return
    if (this.#parts-- === 0) throw new Error(`the answer has more than ${MAX_PARTS} objects and lists`)
    if (Array.isArray(value)) {
      for (const member of value) this.visit(member, isConverted)
      return
    }
    for (const name in value) {
      if (UNREAD.test(name) && !isConverted) continue
      this.visit(value[name], isConverted || CONVERTED.has(name))
    }
  }
}
