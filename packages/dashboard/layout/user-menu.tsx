import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../controls/button.tsx'
import { ChevronIcon, EndUserIcon } from '../controls/icons.tsx'
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '../controls/menu.tsx'
import { useWorkspace } from '../session/environment-context.tsx'
import { hasSingleKeyShortcuts, setSingleKeyShortcuts } from '../session/single-key-shortcuts.ts'
import { applyTheme, readTheme, type Theme } from '../session/theme.ts'
import { useSignOut } from '../session/use-sign-out.ts'

const THEMES: readonly [Theme, string][] = [
  ['system', 'System theme'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

export function UserMenu() {
  const { user } = useWorkspace()
  const [theme, setTheme] = useState(readTheme)
  const [hasSingleKeys, setSingleKeys] = useState(hasSingleKeyShortcuts)
  const signOut = useSignOut()
  const navigate = useNavigate()
  return (
    <Menu
      align="end"
      trigger={
        <Button
          variant="quiet"
          small
          className="switcher account"
          aria-label={`Your account: ${user.name ?? user.email}`}
        >
          <span className="truncate">{user.name ?? user.email}</span>
          <span className="person">
            <EndUserIcon />
          </span>
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
      <MenuItem
        onSelect={() => {
          setSingleKeyShortcuts(!hasSingleKeys)
          setSingleKeys(!hasSingleKeys)
        }}
      >
        {hasSingleKeys ? 'Turn off single-key shortcuts' : 'Turn on single-key shortcuts'}
      </MenuItem>
      <MenuItem onSelect={() => void navigate({ to: '/account' })}>Account</MenuItem>
      <MenuItem onSelect={() => signOut.mutate(false)}>Sign out</MenuItem>
      <MenuItem onSelect={() => signOut.mutate(true)}>Sign out on all devices</MenuItem>
    </Menu>
  )
}
