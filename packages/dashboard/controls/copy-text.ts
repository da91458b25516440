/**
 * Copies the text with the clipboard API, or with the older command if the page may not use the API (without https, or refused).
 * Returns false if neither worked. The helper element of the command is put into the dialog around `near`, because a modal dialog
 * makes everything outside of it inert.
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

/** Selects the content of the element, so that Ctrl+C copies it. */
export function selectContent(element: Element): void {
  const selection = getSelection()
  const range = document.createRange()
  range.selectNodeContents(element)
  selection?.removeAllRanges()
  selection?.addRange(range)
}
