import type { RequestError } from '@rideau/llm/formats/shared/reading/request-error'
import { CARRIER_MARK } from '@rideau/llm/formats/shared/reasoning/reasoning-carrier'
import { findLongTexts, InnerTexts } from '@rideau/llm/formats/shared/tools/inner-texts'
import { mayBeContainer } from '@rideau/llm/json/may-be-container'
import type { Message, ToolCall } from '@rideau/llm/request/message'
import { runInSlices, type SlicedWork } from '../../http/fairness/sliced-work.ts'
import type { RequestContext } from './request-context.ts'

/** Texts of this length together can be parsed at once. */
const SHORT_CHARACTERS = 32 * 1024
const SLICE_CHARACTERS = 256 * 1024
/** What an id that carries something counts at least: unpacking it takes as long as parsing so many characters. */
const LEAST_CARRIER = 512

/**
 * Throws if the tool calls and results of a request contain too much JSON (InnerTexts), since other formats
 * parse it in one go. Returns a promise if they are so long that they are counted in slices.
 */
export function assertInnerTexts(
  ctx: RequestContext,
  messages: readonly Message[],
): Promise<void> | undefined {
  let characters = 0
  let ofArguments = 0
  let ofResults = 0
  for (const message of messages) {
    if (message.role === 'tool') {
      for (const text of listResults(message)) {
        characters += text.length
        if (mayBeContainer(text)) ofResults += text.length
      }
    }
    // Fields that only a provider of the caller's own format validates may have any type.
    for (const call of message.tool_calls ?? NO_CALLS) {
      if (typeof call?.function?.arguments === 'string') ofArguments += call.function.arguments.length
      if (typeof call?.id === 'string' && call.id.includes(CARRIER_MARK)) {
        characters += Math.max(call.id.length, LEAST_CARRIER)
      }
    }
  }
  const fault = findLongTexts({ ofArguments, ofResults }, 'messages')
  if (fault !== undefined) throw fault
  return characters + ofArguments <= SHORT_CHARACTERS ? undefined : countInSlices(ctx, messages)
}

const NO_CALLS: readonly ToolCall[] = []
const NO_TEXTS: readonly string[] = []

function listResults({ content }: Message): readonly string[] {
  if (typeof content === 'string') return [content]
  if (!Array.isArray(content)) return NO_TEXTS
  return content.map(part => part?.text).filter(text => typeof text === 'string')
}

async function countInSlices(ctx: RequestContext, messages: readonly Message[]): Promise<void> {
  const scan = new InnerTextScan(messages)
  await runInSlices(scan, () => ctx.stopped !== undefined, ctx)
  ctx.assertNotStopped()
  if (scan.fault !== undefined) throw scan.fault
}

class InnerTextScan implements SlicedWork {
  fault: RequestError | undefined
  private readonly inner = new InnerTexts()
  private readonly texts: Iterator<string>
  private text = ''
  private at = 0

  constructor(messages: readonly Message[]) {
    this.texts = this.listTexts(messages)
  }

  step(): boolean {
    if (this.at >= this.text.length) {
      const next = this.texts.next()
      if (next.done === true) return true
      this.text = next.value
      this.at = 0
    }
    const end = Math.min(this.text.length, this.at + SLICE_CHARACTERS)
    this.inner.add(this.text, this.at, end, end === this.text.length)
    this.at = end
    this.fault = this.inner.findFault('messages')
    return this.fault !== undefined
  }

  /** Unpacks and counts carried ids, one per step. */
  private *listTexts(messages: readonly Message[]): Generator<string, void> {
    for (const message of messages) {
      if (message.role === 'tool') yield* listResults(message).filter(mayBeContainer)
      for (const call of message.tool_calls ?? NO_CALLS) {
        const args = call?.function?.arguments
        if (typeof args === 'string' && mayBeContainer(args)) yield args
        if (typeof call?.id !== 'string' || !call.id.includes(CARRIER_MARK)) continue
        this.inner.addCarried(call.id)
        yield ''
      }
    }
  }
}
