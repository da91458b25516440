import type { ContentPart, Message } from '../../../request/message.ts'

/**
 * Returns the content of a tool's result for a format without a field for errors: the text of a failed call says so, since
 * the model would take it for an answer otherwise.
 */
export function toResultContent({ content, is_error: isError }: Message): Message['content'] {
  return isError === true ? toErrorContent(content) : content
}

export function toErrorContent(content: Message['content']): string | ContentPart[] {
  if (!Array.isArray(content)) return `Error: ${content ?? ''}`
  const [first, ...rest] = content as readonly ContentPart[]
  return first?.type === 'text'
    ? [{ ...first, text: `Error: ${String(first.text)}` }, ...rest]
    : [{ type: 'text', text: 'Error:' }, ...content]
}
