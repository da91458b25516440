/** Returns the path to open after the sign-in. Anything but a path of this host becomes `/`, so that no link leads to another host. */
export function toSafeReturn(next: unknown): string {
  return typeof next === 'string' && /^\/(?![/\\])/.test(next) ? next : '/'
}
