import type { FormEvent } from 'react'
import { Button } from '../../controls/button.tsx'
import { AreaField } from '../../controls/field.tsx'
import { textOf } from '../../controls/use-form.ts'
import type { AskedTool, ToolResult } from './to-chat-params.ts'

interface ToolResultsProps {
  readonly tools: readonly AskedTool[]
  readonly onAnswer: (results: readonly ToolResult[]) => void
}

/** Answers in the place of the tools: the model goes on with what is written here. */
export function ToolResults({ tools, onAnswer }: ToolResultsProps) {
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    onAnswer(tools.map(({ id }) => ({ id, content: textOf(data, `result ${id}`) })))
  }
  return (
    <form className="form" onSubmit={send}>
      {tools.map(({ id, name }) => (
        <AreaField key={id} label={`Result of ${name}`} name={`result ${id}`} rows={2} required />
      ))}
      <div>
        <Button type="submit">{tools.length === 1 ? 'Send the result' : 'Send the results'}</Button>
      </div>
    </form>
  )
}
