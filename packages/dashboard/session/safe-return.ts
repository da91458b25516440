/** Returns the address to go to after the sign-in: a path of this host. A link must not lead to another host by it. */
export function toSafeReturn(next: unknown): string {
  return typeof next === 'string' && /^\/(?![/\\])/.test(next) ? next : '/'
}
