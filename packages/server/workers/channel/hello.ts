/** Raise it with every change of what a frame means: a worker and a supervisor of two versions must not talk. */
export const PROTOCOL_VERSION = 1

/** The first frame of a connection, from the worker. */
export interface Hello {
  /** Identifies the worker process, whatever its connections. */
  readonly worker: string
  readonly pid: number
}

/** The answer to a hello. */
export interface Welcome {
  /** Identifies this life of the supervisor. */
  readonly run: string
}

const MAX_NAME_CHARS = 200

export function encodeHello({ worker, pid }: Hello): string {
  return JSON.stringify({ version: PROTOCOL_VERSION, worker, pid })
}

/** Throws where the text is not the hello of this version. */
export function parseHello(text: string): Hello {
  const { worker, pid } = parseFirst(text, 'worker')
  if (!isName(worker)) throw new Error('a hello without the name of its worker')
  return { worker, pid: typeof pid === 'number' ? pid : 0 }
}

export function encodeWelcome({ run }: Welcome): string {
  return JSON.stringify({ version: PROTOCOL_VERSION, run })
}

/** Throws where the text is not the welcome of this version. */
export function parseWelcome(text: string): Welcome {
  const { run } = parseFirst(text, 'supervisor')
  if (!isName(run)) throw new Error('a welcome without a run')
  return { run }
}

function parseFirst(text: string, peer: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null) throw new Error(`the ${peer} sent no object first`)
  const { version } = value as { version?: unknown }
  if (version === PROTOCOL_VERSION) return value as Record<string, unknown>
  const got = typeof version === 'number' ? version : 'none'
  throw new Error(`the ${peer} must have protocol version ${PROTOCOL_VERSION}; got ${got}`)
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_NAME_CHARS
}
