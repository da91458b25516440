/** From this share on a limit is nearly used up. */
const NEAR = 0.9

interface MeterBarProps {
  /** What is used of the limit; 1 is all of it. */
  readonly share: number
  /** What running requests have reserved of it besides. */
  readonly reserved?: number
}

/** A bar of how much of a limit is used. The text beside it says the same, so screen readers skip the bar. */
export function MeterBar({ share, reserved = 0 }: MeterBarProps) {
  const used = Math.min(1, share)
  const state = share >= 1 ? ' over' : share >= NEAR ? ' near' : ''
  return (
    <span className={`meter-bar${state}`} aria-hidden="true">
      <span className="used" style={{ width: `${100 * used}%` }} />
      <span className="reserved" style={{ width: `${100 * Math.min(1 - used, reserved)}%` }} />
    </span>
  )
}
