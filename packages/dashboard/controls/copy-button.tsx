import { type RefObject, useEffect, useRef, useState } from 'react'
import { Button } from './button.tsx'
import { copyText, selectContent } from './copy-text.ts'

const SHOWN_MS = 4_000

interface CopyButtonProps {
  readonly text: string
  readonly label?: string
  readonly variant?: 'plain' | 'primary' | 'quiet'
  /** The element that shows the text. Its content is selected if the text cannot be copied. */
  readonly shown?: RefObject<HTMLElement | null>
  /** Whether it gets the focus when its dialog opens. */
  readonly isFocused?: boolean
}

export function CopyButton({ text, label = 'Copy', variant = 'plain', shown, isFocused }: CopyButtonProps) {
  const [state, setState] = useState<'ready' | 'copied' | 'selected'>('ready')
  const button = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (state === 'ready') return
    const timer = setTimeout(() => setState('ready'), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [state])
  const copy = async (): Promise<void> => {
    const isCopied = button.current !== null && (await copyText(text, button.current))
    if (!isCopied && shown?.current) selectContent(shown.current)
    setState(isCopied ? 'copied' : 'selected')
  }
  return (
    <span ref={button}>
      <Button small variant={variant} data-focus={isFocused} onClick={() => void copy()}>
        {state === 'copied' ? 'Copied' : state === 'selected' ? 'Press Ctrl+C' : label}
      </Button>
      <span role="status" className="visually-hidden">
        {state === 'copied' ? 'Copied.' : state === 'selected' ? 'Selected. Press Ctrl+C to copy.' : ''}
      </span>
    </span>
  )
}
