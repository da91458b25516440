import { type ReactNode, useEffect } from 'react'

interface PageHeaderProps {
  readonly title: string
  /** A sentence below the title that summarizes the page. */
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
