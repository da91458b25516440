/** Names that a page must show without breaking: emoji, right to left, a space, the longest, and one that looks like markup. */
const STRANGE = ['🦊🌲', 'مستخدم-٤٢', 'Zoë Müller', 'x'.repeat(255), '<b>bold</b>', "O'Brien, Miles"] as const

/** Returns the ids of end users as an application names them. */
export function toNames(count: number): readonly string[] {
  const names = Array.from({ length: count }, (_, index) => `user-${1_000 + ((index * 7_919) % 9_000)}`)
  for (const [index, name] of STRANGE.entries()) names[5 + index * 3] = name
  return [...new Set(names)]
}
