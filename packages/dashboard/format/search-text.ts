/** Reads the query of an address. A parameter that is given several times is a list. */
export function parseSearchText(text: string): Record<string, string | string[]> {
  const params = new URLSearchParams(text)
  return Object.fromEntries(
    [...new Set(params.keys())].map(name => {
      const values = params.getAll(name)
      return [name, values.length > 1 ? values : (values[0] as string)]
    }),
  )
}

/** Writes the query of an address. Parameters that are undefined are left out. */
export function toSearchText(search: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(search).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter(item => item !== undefined)
      .map((item): [string, string] => [name, String(item)]),
  )
  return new URLSearchParams(given).toString()
}
