import { type ReactNode, useEffect } from 'react'

interface PageHeadProps {
  readonly title: string
  /** The answer to the page's question, in a sentence. */
  readonly answer?: ReactNode
  readonly actions?: ReactNode
}

export function PageHead({ title, answer, actions }: PageHeadProps) {
  useEffect(() => {
    document.title = `${title} · Rideau`
  }, [title])
  return (
    <div className="page-head">
      <div>
        <h1>{title}</h1>
        {answer !== undefined && <p>{answer}</p>}
      </div>
      {actions !== undefined && <div className="row">{actions}</div>}
    </div>
  )
}
