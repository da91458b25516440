import { type ReactNode, useEffect } from 'react'

interface PageHeaderProps {
  readonly title: string
  /** The answer to the page's question, in a sentence. */
  readonly description?: ReactNode
  readonly actions?: ReactNode
}

export function PageHeader({ title, description, actions }: PageHeaderProps) {
  useEffect(() => {
    document.title = `${title} · Rideau`
  }, [title])
  return (
    <div className="page-header">
      <div>
        <h1>{title}</h1>
        {description !== undefined && <p>{description}</p>}
      </div>
      {actions !== undefined && <div className="row">{actions}</div>}
    </div>
  )
}
