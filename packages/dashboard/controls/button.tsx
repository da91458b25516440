import { type ComponentProps, useId } from 'react'

interface ButtonProps extends ComponentProps<'button'> {
  readonly variant?: 'plain' | 'primary' | 'danger' | 'quiet' | undefined
  readonly small?: boolean | undefined
  /** Whether the button's action is running. Clicks do nothing meanwhile. */
  readonly isPending?: boolean | undefined
  /** Why the button is disabled. It stays visible and focusable, and shows the reason as a tooltip. */
  readonly disabledReason?: string | undefined
}

export function Button({
  variant = 'plain',
  small = false,
  isPending = false,
  disabledReason,
  className = '',
  onClick,
  children,
  ...rest
}: ButtonProps) {
  const reasonId = useId()
  const isDisabled = isPending || disabledReason !== undefined
  const button = (
    <button
      type="button"
      {...rest}
      className={`button ${variant}${small ? ' small' : ''} ${className}`.trimEnd()}
      aria-disabled={isDisabled || undefined}
      aria-describedby={disabledReason === undefined ? undefined : reasonId}
      onClick={event => {
        // Also keeps a disabled submit button from sending its form.
        if (isDisabled) event.preventDefault()
        else onClick?.(event)
      }}
    >
      {children}
    </button>
  )
  if (disabledReason === undefined) return button
  return (
    <span className="with-reason">
      {button}
      <span role="tooltip" id={reasonId}>
        {disabledReason}
      </span>
    </span>
  )
}
