/** The families whose newest models always think, with the version where a name has one. Dates are no versions. */
const NAME = /claude-(fable|mythos|opus)-(?:preview|(\d)(?:[-.](\d{1,2}))?(?!\d))/

/**
 * True if the model cannot be kept from thinking: it answers 400 to thinking that is `disabled`. Source: docs/providers.md,
 * "Anthropic".
 */
export function alwaysThinks(model: string): boolean {
  const named = NAME.exec(model)
  return named !== null && (named[1] !== 'opus' || toVersion(named) >= 505)
}

/** True if the model refuses a choice of tools that forces a call. Source: docs/providers.md, "Anthropic". */
export function refusesForcedCalls(model: string): boolean {
  const named = NAME.exec(model)
  return named !== null && toVersion(named) >= (named[1] === 'opus' ? 505 : 501)
}

/** 501 for `claude-fable-5-1`; the preview of Mythos had the limits of its newest models. */
function toVersion([, , major, minor = '0']: RegExpExecArray): number {
  return major === undefined ? Number.POSITIVE_INFINITY : Number(major) * 100 + Number(minor)
}
