import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { toParams } from '../api/workspace.ts'
import { useOptionalEnvironment } from '../session/environment-context.tsx'
import { hasSingleKeyShortcuts } from '../session/single-key-shortcuts.ts'
import { PAGES } from './nav.tsx'

/** How long after `g` the letter of a page still counts. */
const WAIT_MS = 1_500

interface Openers {
  readonly openPalette: () => void
  readonly openHelp: () => void
}

/** The selectors that `/` tries in order. They exclude the time, which has the key `t`. */
const FILTERS = ['[role="search"] input', '[role="search"] select:not([data-range])']
const RANGE = ['[data-range]']

/**
 * `Ctrl K` opens the palette, also while something is typed. `g` and a letter opens a page, `/` goes to the search of the page or opens
 * the palette, `t` goes to the time, and `?` opens the help: not while something is typed, nor where single keys are turned off. None of
 * them works over a dialog.
 */
export function useShortcuts({ openPalette, openHelp }: Openers): void {
  const navigate = useNavigate()
  const current = useOptionalEnvironment()
  const pressedAt = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
        // Some browsers open their own search with this key.
        event.preventDefault()
        if (document.querySelector('dialog[open]') === null) openPalette()
        return
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isKeyIgnored(event.target)) return
      if (event.key === '?') {
        openHelp()
        return
      }
      if (event.key === '/' || event.key === 't') {
        const control = findFirst(event.key === '/' ? FILTERS : RANGE)
        // Without this, the browser would type the key into the focused control.
        event.preventDefault()
        if (control !== undefined) control.focus()
        else if (event.key === '/') openPalette()
        return
      }
      if (event.key === 'g') {
        pressedAt.current = event.timeStamp
        return
      }
      const page = PAGES.find(({ key }) => key === event.key)
      if (page === undefined || current === undefined || event.timeStamp - pressedAt.current > WAIT_MS) return
      pressedAt.current = Number.NEGATIVE_INFINITY
      event.preventDefault()
      void navigate({ to: page.to, params: toParams(current) })
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [navigate, current, openPalette, openHelp])
}

function findFirst(selectors: readonly string[]): HTMLElement | undefined {
  for (const selector of selectors) {
    const found = document.querySelector<HTMLElement>(selector)
    if (found !== null) return found
  }
  return undefined
}

/** Returns whether a key without Ctrl or Cmd is ignored: the user turned these shortcuts off, or is typing. */
export function isKeyIgnored(target: EventTarget | null): boolean {
  return !hasSingleKeyShortcuts() || isTyping(target)
}

/** Returns whether a key press belongs to a field, a menu or a dialog. */
function isTyping(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open]') !== null) return true
  return target instanceof HTMLElement && target.closest('input, textarea, select, [role="menu"]') !== null
}
