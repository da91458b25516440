/** Where the surfaces in other houses' formats begin, by the name that the log has for each. */
export interface Prefixes {
  readonly openai: string
  readonly anthropic: string
  readonly gemini: string
  readonly ollama: string
  readonly cohere: string
  readonly bedrock: string
}

/** A surface as routes and the log name it. */
export type MountName = 'native' | keyof Prefixes

/** The surface that a path belongs to, also where there is no such route; of two prefixes the longer one counts. */
export function findMount(path: string, prefixes: Prefixes): MountName {
  let found: MountName = 'native'
  let length = 0
  for (const name of Object.keys(prefixes) as (keyof Prefixes)[]) {
    const prefix = prefixes[name]
    if (prefix.length <= length || !path.startsWith(`${prefix}/`)) continue
    found = name
    length = prefix.length
  }
  return found
}
