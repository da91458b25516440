import { type ComponentProps, useId } from 'react'

interface ButtonProps extends ComponentProps<'button'> {
  readonly look?: 'plain' | 'primary' | 'danger' | 'quiet' | undefined
  readonly small?: boolean | undefined
  /** The button waits for an answer and takes no click. */
  readonly isPending?: boolean | undefined
  /** Why the button cannot be used. It stays visible and focusable, and says so. */
  readonly objection?: string | undefined
}

export function Button({
  look = 'plain',
  small = false,
  isPending = false,
  objection,
  className = '',
  onClick,
  children,
  ...rest
}: ButtonProps) {
  const reasonId = useId()
  const isDisabled = isPending || objection !== undefined
  const button = (
    <button
      type="button"
      {...rest}
      className={`button ${look}${small ? ' small' : ''} ${className}`.trimEnd()}
      aria-disabled={isDisabled || undefined}
      aria-describedby={objection === undefined ? undefined : reasonId}
      onClick={event => {
        // Also keeps a disabled submit button from sending its form.
        if (isDisabled) event.preventDefault()
        else onClick?.(event)
      }}
    >
      {children}
    </button>
  )
  if (objection === undefined) return button
  return (
    <span className="with-reason">
      {button}
      <span role="tooltip" id={reasonId}>
        {objection}
      </span>
    </span>
  )
}
