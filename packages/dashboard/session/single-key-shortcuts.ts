const KEY = 'rideau.single-keys'

/** Returns whether keys without Ctrl or Cmd are shortcuts in this browser. People who dictate or easily hit wrong keys turn them off. */
export function hasSingleKeyShortcuts(): boolean {
  return localStorage.getItem(KEY) !== 'off'
}

export function setSingleKeyShortcuts(isOn: boolean): void {
  if (isOn) localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, 'off')
}
