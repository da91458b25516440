export type Theme = 'system' | 'light' | 'dark'

const KEY = 'rideau.theme'

export function readTheme(): Theme {
  const stored = localStorage.getItem(KEY)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') {
    localStorage.removeItem(KEY)
    delete document.documentElement.dataset.theme
    return
  }
  localStorage.setItem(KEY, theme)
  document.documentElement.dataset.theme = theme
}
