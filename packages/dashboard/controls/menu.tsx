import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'

/**
 * A button with a menu. The menu is not modal: a modal one would lock scrolling with an inline style sheet, which the content
 * security policy refuses.
 */
export function Menu({
  trigger,
  children,
  align = 'start',
}: {
  trigger: ReactNode
  children: ReactNode
  align?: 'start' | 'end'
}) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align={align} sideOffset={4} collisionPadding={8}>
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return <DropdownMenu.Label className="menu-label">{children}</DropdownMenu.Label>
}

export function MenuSeparator() {
  return <DropdownMenu.Separator className="menu-separator" />
}

export function MenuItem({
  onSelect,
  children,
  isCurrent = false,
  isDanger = false,
}: {
  onSelect: () => void
  children: ReactNode
  isCurrent?: boolean
  isDanger?: boolean
}) {
  return (
    <DropdownMenu.Item className={`menu-item${isDanger ? ' danger' : ''}`} onSelect={onSelect}>
      {children}
      {isCurrent && (
        <>
          <span aria-hidden="true">✓</span>
          <span className="visually-hidden">(current)</span>
        </>
      )}
    </DropdownMenu.Item>
  )
}
