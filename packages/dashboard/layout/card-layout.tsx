import { type ReactNode, useEffect } from 'react'
import { Logo } from '../controls/icons.tsx'

/** A page without the AppShell: one card in the middle, for signing in, the account and errors. */
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
