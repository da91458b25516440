import type { FormEvent } from 'react'
import { Button } from '../../controls/button.tsx'
import { TextAreaField } from '../../controls/field.tsx'
import { textOf } from '../../controls/use-form.ts'
import type { ToolCall, ToolResult } from './to-chat-params.ts'

interface ToolResultsProps {
  readonly tools: readonly ToolCall[]
  readonly onResults: (results: readonly ToolResult[]) => void
}

/** Lets the user type the results of tool calls, with which the model continues. */
export function ToolResults({ tools, onResults }: ToolResultsProps) {
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    onResults(tools.map(({ id }) => ({ id, content: textOf(data, `result ${id}`) })))
  }
  return (
    <form className="form" onSubmit={send}>
      {tools.map(({ id, name }) => (
        <TextAreaField key={id} label={`Result of ${name}`} name={`result ${id}`} rows={2} required />
      ))}
      <div>
        <Button type="submit">{tools.length === 1 ? 'Send the result' : 'Send the results'}</Button>
      </div>
    </form>
  )
}
