import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, api } from '../api/client.ts'
import { Button } from '../controls/button.tsx'
import { ChevronIcon } from '../controls/icons.tsx'
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '../controls/menu.tsx'
import { useWorkspace } from '../session/place-context.tsx'
import { applyTheme, readTheme, type Theme } from '../session/theme.ts'

const THEMES: readonly [Theme, string][] = [
  ['system', 'Theme of the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

/** Other tabs sign out too when this key of the local storage changes. */
export const SIGNED_OUT_KEY = 'rideau.signed-out-at'

export function UserMenu() {
  const { user } = useWorkspace()
  const [theme, setTheme] = useState(readTheme)
  const client = useQueryClient()
  const signOut = useMutation({
    mutationFn: (everywhere: boolean) =>
      answerOf(api.DELETE('/v1/session', everywhere ? { params: { query: { everywhere: 'true' } } } : {})),
    onSuccess: () => {
      client.clear()
      localStorage.setItem(SIGNED_OUT_KEY, String(Date.now()))
      // A full load: nothing of the previous person stays in memory.
      location.assign('/sign-in')
    },
  })
  return (
    <Menu
      align="end"
      trigger={
        <Button
          look="quiet"
          small
          className="switcher"
          aria-label={`Your account: ${user.name ?? user.email}`}
        >
          <span className="cut">{user.name ?? user.email}</span>
          <ChevronIcon />
        </Button>
      }
    >
      <MenuLabel>{user.email}</MenuLabel>
      <MenuSeparator />
      {THEMES.map(([name, label]) => (
        <MenuItem
          key={name}
          isCurrent={theme === name}
          onSelect={() => {
            applyTheme(name)
            setTheme(name)
          }}
        >
          {label}
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem onSelect={() => signOut.mutate(false)}>Sign out</MenuItem>
      <MenuItem onSelect={() => signOut.mutate(true)}>Sign out on all devices</MenuItem>
    </Menu>
  )
}
