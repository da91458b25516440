import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { FAULTS } from '../core/fault-table.ts'
import { UUID_PATTERN } from '../core/ids.ts'
import { type ControlPlane, openControlPlane } from '../testing/harness/control-plane.ts'
import { isCreating } from './operation/operation.ts'
import { operations } from './operations.ts'

interface Parameter {
  name: string
  in: string
  required?: boolean
  schema: Record<string, unknown>
}
interface DocumentedOperation {
  operationId: string
  description: string
  security?: unknown[]
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Record<string, { schema: Record<string, unknown> }> }
  responses: Record<string, { content?: Record<string, { schema: { $ref?: string } }> }>
}
interface OpenApi {
  openapi: string
  paths: Record<string, Record<string, DocumentedOperation>>
  components: { schemas: Record<string, unknown>; securitySchemes: Record<string, unknown> }
}

let plane: ControlPlane
let document: OpenApi
beforeAll(async () => {
  plane = await openControlPlane()
  document = (await plane.call<OpenApi>('GET', '/openapi.json')).json
})
afterAll(() => plane.close())

/** The operations, without the routes for browsers. */
const all = () => everything().filter(({ operation }) => operation.operationId !== undefined)

const everything = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )

describe('GET /openapi.json', () => {
  test('is OpenAPI 3.1 and lists every operation once, under its own name', () => {
    expect(document.openapi).toBe('3.1.0')
    const documented = all().map(
      ({ method, path, operation }) => `${method} ${path} ${operation.operationId}`,
    )
    expect(documented.sort()).toEqual(
      operations.map(({ method, path, name }) => `${method} ${path} ${name}`).sort(),
    )
    expect(new Set(operations.map(({ name }) => name)).size).toBe(operations.length)
  })

  test('documents the routes for browsers, which are no operations', () => {
    const others = everything().filter(({ operation }) => operation.operationId === undefined)
    expect(others.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      'GET /docs/errors',
      'GET /v1/session/oidc/callback',
      'GET /v1/session/oidc/start',
    ])
    for (const { operation } of others) {
      expect(operation.security).toEqual([])
      const codes = [...operation.description.matchAll(/`(\w+)`/g)].map(match => match[1] as string)
      for (const code of codes.filter(each => each !== 'doc_url')) expect(FAULTS).toHaveProperty(code)
    }
    const [start, errors] = ['/v1/session/oidc/start', '/docs/errors'].map(path => document.paths[path]?.get)
    expect(Object.keys(start?.responses ?? {})).toEqual(['302', 'default'])
    expect(errors?.responses['200']).toHaveProperty(['content', 'text/html'])
  })

  test('refuses a query parameter, which it has none of', async () => {
    const { outcome } = await plane.call('GET', '/openapi.json?version=2')
    expect(outcome).toBe('400 request_validation_failed version')
  })

  test('declares Idempotency-Key for what creates, and for nothing else', () => {
    const named = all().filter(({ operation }) =>
      (operation.parameters ?? []).some(parameter => parameter.name === 'Idempotency-Key'),
    )
    const creating = operations.filter(isCreating).map(({ name }) => name)
    expect(named.map(({ operation }) => operation.operationId).sort()).toEqual(creating.sort())
    const parameters = document.paths['/v1/orgs/{orgId}/projects']?.post?.parameters ?? []
    expect(parameters.find(({ name }) => name === 'Idempotency-Key')).toMatchObject({
      in: 'header',
      required: false,
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    })
  })

  test('every answer with a list of records is the list envelope', () => {
    const schemaOf = ({ responses }: DocumentedOperation): any => {
      const schema = responses['200']?.content?.['application/json']?.schema
      return schema?.$ref === undefined
        ? schema
        : document.components.schemas[schema.$ref.split('/').at(-1) ?? '']
    }
    const lists = all().filter(
      ({ operation }) => schemaOf(operation)?.properties?.data?.items?.$ref !== undefined,
    )
    expect(lists.length).toBeGreaterThan(20)
    for (const { path, operation } of lists) {
      const { properties } = schemaOf(operation)
      expect([path, properties.has_more?.type, properties.next_cursor]).toEqual([
        path,
        'boolean',
        { type: ['string', 'null'] },
      ])
    }
  })

  test('lists have pages of 1 to 100 records', () => {
    const limits = all().flatMap(({ operation }) =>
      (operation.parameters ?? []).filter(({ name }) => name === 'limit').map(({ schema }) => schema),
    )
    expect(limits.length).toBeGreaterThan(20)
    for (const limit of limits) expect(limit).toMatchObject({ type: 'integer', minimum: 1, maximum: 100 })
  })

  test('declares every path parameter with the pattern of a UUID', () => {
    for (const { path, operation } of all()) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1])
      const declared = (operation.parameters ?? []).filter(parameter => parameter.in === 'path')
      expect(declared.map(({ name }) => name)).toEqual(named)
      for (const { required, schema } of declared) {
        expect([required, schema.type, schema.pattern]).toEqual([true, 'string', UUID_PATTERN])
      }
    }
  })

  test('has no unresolved reference and no unused schema', () => {
    const text = JSON.stringify(document)
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(match => match[1])
    const names = Object.keys(document.components.schemas).map(name => `#/components/schemas/${name}`)
    expect(new Set(references)).toEqual(new Set(names))
  })

  test('declares exactly a page size and a cursor for the project list', () => {
    const parameters = document.paths['/v1/orgs/{orgId}/projects']?.get?.parameters ?? []
    const query = parameters.filter(parameter => parameter.in === 'query')
    expect(query.map(({ name }) => name).sort()).toEqual(['cursor', 'limit'])
    const schemaOf = (name: string) => query.find(parameter => parameter.name === name)?.schema
    expect(schemaOf('limit')).toMatchObject({ type: 'integer', minimum: 1, maximum: 100 })
    expect(schemaOf('cursor')).toMatchObject({ type: 'string', minLength: 1, maxLength: 512 })
    expect(query.some(({ required }) => required === true)).toBe(false)
  })

  test('documents the error envelope, the codes and the access of every operation', () => {
    for (const { operation } of all()) {
      expect(operation.responses.default?.content?.['application/json']?.schema.$ref).toBe(
        '#/components/schemas/Error',
      )
      const codes = [...operation.description.matchAll(/`(\w+)`/g)].map(match => match[1] as string)
      for (const code of codes) expect(FAULTS).toHaveProperty(code)
      expect(codes).toContain('request_validation_failed')
      const access = operations.find(({ name }) => name === operation.operationId)?.access
      const expected = access === 'public' ? [] : access === 'session' ? [{ session: [] }] : undefined
      expect(operation.security).toEqual(expected)
    }
  })

  test('requires a body unless the route takes calls without one', () => {
    const optional = all().filter(({ operation }) => operation.requestBody?.required === false)
    const names = optional.map(({ operation }) => operation.operationId).sort()
    expect(names).toEqual(['keys.roll', 'model_aliases.dry_run'])
    const required = document.paths['/v1/environments/{envId}/keys']?.post?.requestBody?.required
    expect(required).toBe(true)
    expect(JSON.stringify(document)).not.toContain('x-optional-body')
  })

  test('has patterns that readers in other languages can compile', () => {
    expect(JSON.stringify(document)).not.toMatch(/\\\\p\{/)
  })

  test('has closed bodies, and no body for a route without one', () => {
    const revoke = document.paths['/v1/keys/{keyId}/revoke']?.post
    expect(revoke?.requestBody).toBeUndefined()
    expect(
      JSON.stringify(document.components.schemas.NewKeyInput ?? document.components.schemas.NewKey),
    ).toContain('"additionalProperties":false')
  })

  test('answers 404 route_not_found in production', async () => {
    const production = await openControlPlane({ production: true })
    try {
      expect((await production.call('GET', '/openapi.json')).outcome).toBe('404 route_not_found')
    } finally {
      await production.close()
    }
  })
})

test('makes the document once, and sends it as it is or compressed', async () => {
  const fetchIt = async (headers: Record<string, string>) =>
    await fetch(`${plane.url}/openapi.json`, { headers: { 'accept-encoding': 'identity', ...headers } })
  const stringify = vi.spyOn(JSON, 'stringify')
  try {
    const plain = await fetchIt({})
    const packed = await fetchIt({ 'accept-encoding': 'gzip' })
    expect([plain, packed].map(({ headers }) => headers.get('content-encoding'))).toEqual([null, 'gzip'])
    expect(await packed.json()).toEqual(await plain.json())
    expect(packed.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const made = stringify.mock.results.filter(({ value }) => String(value).length > 100_000)
    expect(made).toEqual([])
  } finally {
    stringify.mockRestore()
  }
})
