import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { toNames } from '../api/workspace.ts'
import { usePlace } from '../session/place-context.tsx'
import { PAGES } from './nav.tsx'

/** How long `g` waits for the letter of a page. */
const WAIT_MS = 1_500

/** `g` and a letter opens a page. Not while something is typed, and not over a dialog. */
export function useShortcuts(): void {
  const navigate = useNavigate()
  const place = usePlace()
  const pressedAt = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (event.key === 'g') {
        pressedAt.current = event.timeStamp
        return
      }
      const page = PAGES.find(({ key }) => key === event.key)
      if (page === undefined || event.timeStamp - pressedAt.current > WAIT_MS) return
      pressedAt.current = Number.NEGATIVE_INFINITY
      event.preventDefault()
      void navigate({ to: page.to, params: toNames(place) })
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [navigate, place])
}

function isTyping(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open]') !== null) return true
  return target instanceof HTMLElement && target.closest('input, textarea, select, [role="menu"]') !== null
}
