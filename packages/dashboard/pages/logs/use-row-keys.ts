import { type RefObject, useEffect } from 'react'
import { isKeyIgnored } from '../../layout/use-shortcuts.ts'

/** Makes `j` and `k` move the focus to the link of the next and the previous row. */
export function useRowKeys(table: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isKeyIgnored(event.target)) return
      if (event.key !== 'j' && event.key !== 'k') return
      const links = [...(table.current?.querySelectorAll<HTMLElement>('tbody a') ?? [])]
      const at = links.findIndex(link => link === document.activeElement)
      const next = event.key === 'j' ? at + 1 : at === -1 ? links.length - 1 : at - 1
      links[Math.max(0, Math.min(next, links.length - 1))]?.focus()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [table])
}
