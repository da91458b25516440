import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { toNames } from '../api/workspace.ts'
import { useMaybePlace } from '../session/place-context.tsx'
import { PAGES } from './nav.tsx'

/** How long `g` waits for the letter of a page. */
const WAIT_MS = 1_500

interface Openers {
  readonly openPalette: () => void
  readonly openHelp: () => void
}

/**
 * `Ctrl K` opens the palette, also while something is typed. `g` and a letter opens a page, and `?` the help: not while something
 * is typed. None of them works over a dialog.
 */
export function useShortcuts({ openPalette, openHelp }: Openers): void {
  const navigate = useNavigate()
  const place = useMaybePlace()
  const pressedAt = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
        // In the browser it would go to its own search field.
        event.preventDefault()
        if (document.querySelector('dialog[open]') === null) openPalette()
        return
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (event.key === '?') {
        openHelp()
        return
      }
      if (event.key === 'g') {
        pressedAt.current = event.timeStamp
        return
      }
      const page = PAGES.find(({ key }) => key === event.key)
      if (page === undefined || place === undefined || event.timeStamp - pressedAt.current > WAIT_MS) return
      pressedAt.current = Number.NEGATIVE_INFINITY
      event.preventDefault()
      void navigate({ to: page.to, params: toNames(place) })
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [navigate, place, openPalette, openHelp])
}

/** Whether a letter belongs to a field, a menu or a dialog, and not to the page. */
export function isTyping(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open]') !== null) return true
  return target instanceof HTMLElement && target.closest('input, textarea, select, [role="menu"]') !== null
}
