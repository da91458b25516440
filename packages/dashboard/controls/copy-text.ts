/**
 * Copies the text: by the clipboard, or by the older command where the page has no right to it (without https, or refused). Returns
 * false if neither worked. `near` is where a helper element may be put: a modal dialog makes everything outside of it inert.
 */
export async function copyText(text: string, near: Element): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyByCommand(text, near)
  }
}

function copyByCommand(text: string, near: Element): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'visually-hidden'
  area.setAttribute('aria-hidden', 'true')
  const parent = near.closest('dialog') ?? document.body
  parent.append(area)
  area.select()
  try {
    return document.execCommand('copy')
  } catch {
    return false
  } finally {
    area.remove()
  }
}

/** Selects what the element shows, for Ctrl+C. */
export function selectContent(element: Element): void {
  const selection = getSelection()
  const range = document.createRange()
  range.selectNodeContents(element)
  selection?.removeAllRanges()
  selection?.addRange(range)
}
