import { useRef } from 'react'
import { CopyButton } from './copy-button.tsx'

/** Code with a button that copies it. `shown` differs from `text` where a secret is masked. */
export function CodeBlock({ text, shown, label }: { text: string; shown?: string; label?: string }) {
  const pre = useRef<HTMLPreElement>(null)
  return (
    <div className="code">
      <div className="row">
        <CopyButton text={text} shown={pre} variant="quiet" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long code scrolls by keyboard too. */}
      <pre ref={pre} tabIndex={0} aria-label={label ?? 'Code'}>
        {shown ?? text}
      </pre>
    </div>
  )
}
