import { type ReactNode, useEffect } from 'react'
import { Logo } from '../controls/icons.tsx'

/** The frame of the pages for people who are not signed in. */
export function CardLayout({
  title,
  text,
  children,
}: {
  title: string
  text?: ReactNode
  children?: ReactNode
}) {
  useEffect(() => {
    document.title = `${title} · Rideau`
  }, [title])
  return (
    <main className="card-layout">
      <div className="card">
        <p className="brand">
          <Logo /> Rideau
        </p>
        <div>
          <h1>{title}</h1>
          {text !== undefined && <p>{text}</p>}
        </div>
        {children}
      </div>
    </main>
  )
}
