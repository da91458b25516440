import type { Message, ToolCall } from '../../../request/message.ts'

const NO_CALLS: readonly ToolCall[] = []

/**
 * Returns the calls of a message as calls of functions, which is all that other formats than OpenAI's know. OpenAI's has
 * calls of tools that take free text too: the text becomes the one argument, as in the functions that stand for such tools
 * in OpenAI's Responses format.
 */
export function listFunctionCalls({ tool_calls: calls }: Message): readonly ToolCall[] {
  // Clients send null too.
  if (calls === undefined || calls === null) return NO_CALLS
  return calls.some(isCustom) ? calls.map(toFunctionCall) : calls
}

/** A call of the form `{ id, type: 'custom', custom: { name, input } }`, which the parser has checked. */
interface CustomCall {
  readonly id: string
  readonly custom: { readonly name: string; readonly input: string }
}

function isCustom({ type }: { readonly type?: string }): boolean {
  return type === 'custom'
}

function toFunctionCall(call: ToolCall): ToolCall {
  if (!isCustom(call)) return call
  const { id, custom } = call as unknown as CustomCall
  return {
    id,
    type: 'function',
    function: { name: custom.name, arguments: JSON.stringify({ input: custom.input }) },
  }
}
