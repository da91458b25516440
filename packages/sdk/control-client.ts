import { RideauError } from './errors.ts'
import { fixedCredential } from './fixed-credential.ts'
import type { operations } from './generated/control-api.ts'
import { CONTROL_OPERATIONS } from './generated/control-operations.ts'
import { type ConnectionOptions, openTransport, parseAddress } from './open-transport.ts'
import type { Runtime } from './runtime.ts'
import type { Call, CallOptions } from './transport.ts'

type Operation = keyof operations
/** The type of a field that may be optional, or absent. */
type Field<T, Name extends string> = T extends { readonly [N in Name]?: infer V }
  ? Exclude<V, undefined>
  : never
type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : undefined
type Success<T> = {
  [Status in keyof T]: Status extends 200 | 201 | 204 ? Json<T[Status]> : never
}[keyof T]

type Args<Id extends Operation> = PathArgs<Field<operations[Id]['parameters'], 'path'>> &
  QueryArgs<Field<operations[Id]['parameters'], 'query'>> &
  BodyArgs<Json<Field<operations[Id], 'requestBody'>>>
type PathArgs<T> = [T] extends [never] ? unknown : { readonly path: T }
type QueryArgs<T> = [T] extends [never] ? unknown : { readonly query?: T }
type BodyArgs<T> = [T] extends [never] ? unknown : { readonly body: T }

/** What an operation answers. */
export type ControlAnswer<Id extends Operation> = Success<operations[Id]['responses']>
/** Calls one operation. Only one without a required argument may be called without any. */
export type ControlMethod<Id extends Operation> =
  unknown extends Args<Id>
    ? (args?: Record<never, never>, options?: CallOptions) => Promise<ControlAnswer<Id>>
    : Record<never, never> extends Args<Id>
      ? (args?: Args<Id>, options?: CallOptions) => Promise<ControlAnswer<Id>>
      : (args: Args<Id>, options?: CallOptions) => Promise<ControlAnswer<Id>>

type ResourceOf<Id> = Id extends `${infer Name}.${string}` ? Name : never
/** `keys.create(...)`: the names of operations, permissions and audit events are these. */
export type ControlClient = {
  readonly [Name in ResourceOf<Operation>]: {
    readonly [Id in Operation as Id extends `${Name}.${infer Verb}` ? Verb : never]: ControlMethod<Id>
  }
}

export interface ControlClientOptions extends ConnectionOptions {
  /** The control plane's address, such as `https://rideau.example.com`. */
  readonly baseUrl: string
  /** `rd_mk_...`: for servers only. */
  readonly managementKey: string
}

interface AnyArgs {
  readonly path?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

/** Returns the control plane's operations as methods, each with the types of the OpenAPI document. */
export function createControlClient(options: ControlClientOptions, runtime?: Runtime): ControlClient {
  const baseUrl = parseAddress('baseUrl', options.baseUrl)
  const transport = openTransport(options, runtime)
  const credential = fixedCredential(options.managementKey)
  const resources = new Map<string, [verb: string, method: unknown][]>()
  for (const [id, route] of CONTROL_OPERATIONS) {
    const [resource = '', verb = ''] = id.split('.')
    const methods = resources.get(resource) ?? []
    resources.set(resource, methods)
    methods.push([
      verb,
      (args: AnyArgs = {}, callOptions: CallOptions = {}) =>
        transport.callJson(toCall(baseUrl, route, args), credential, callOptions),
    ])
  }
  const client = [...resources].map(([resource, methods]) => [resource, Object.fromEntries(methods)])
  return Object.fromEntries(client) as ControlClient
}

function toCall(baseUrl: string, route: string, { path = {}, query = {}, body }: AnyArgs): Call {
  const [method, template = ''] = route.split(' ')
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => toSegment(name, path))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    // A list is sent as its values one by one: `status=429&status=5xx`.
    for (const each of [value].flat()) {
      if (each !== undefined && each !== null) search.append(name, String(each))
    }
  }
  const text = search.toString()
  const call: Call = {
    method: method as Call['method'],
    url: baseUrl + filled + (text === '' ? '' : `?${text}`),
    hasIdempotencyKey: method === 'POST',
  }
  return body === undefined ? call : { ...call, json: body }
}

/** An empty or missing id would name another route. */
function toSegment(name: string, path: Readonly<Record<string, unknown>>): string {
  const value = Object.entries(path).find(([key]) => key === name)?.[1]
  if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) {
    throw new RideauError(`\`path.${name}\` must be a text; got ${JSON.stringify(value)}.`)
  }
  return encodeURIComponent(value)
}

interface Page<T> {
  readonly data: readonly T[]
  readonly next_cursor: string | null
}

/** Yields every record of a list, page by page: `for await (const key of listAll(control.keys.list, { path: { envId } }))`. */
export async function* listAll<A extends { readonly query?: object }, T>(
  list: (args: A, options?: CallOptions) => Promise<Page<T>>,
  args: A,
  options: CallOptions = {},
): AsyncGenerator<T, void> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = cursor === undefined ? args.query : { ...args.query, cursor }
    const page: Page<T> = await list(query === undefined ? args : { ...args, query }, options)
    yield* page.data
    cursor = page.next_cursor
  }
}
