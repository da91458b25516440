import swagger from '@fastify/swagger'
import Fastify from 'fastify'
import {
  jsonSchemaTransform,
  jsonSchemaTransformObject,
  serializerCompiler,
  validatorCompiler,
} from 'fastify-type-provider-zod'
import { MAX_KEY_CHARS } from '../http/head/read-idempotency-key.ts'
import { BROWSER_DOCUMENTS } from './browser-documents.ts'
import { operations } from './operations.ts'
import { toRoute } from './register-operations.ts'

type Transform = typeof jsonSchemaTransform
type TransformObject = typeof jsonSchemaTransformObject

/**
 * Returns docs/openapi.json, an OpenAPI 3.1 document made from the validating schemas of the operations, without a database. Its
 * server is `/`.
 */
export async function createOpenApiDocument(): Promise<object> {
  const app = Fastify()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Rideau control plane', version: '1', license: { name: 'Apache-2.0' } },
      components: {
        securitySchemes: {
          management_key: { type: 'http', scheme: 'bearer', description: 'A management key.' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: 'rideau_session',
            description:
              "Who signed in by POST /v1/session; `__Host-rideau_session` under https. Unsafe methods need the header `X-Rideau-CSRF: 1` and this host's own `Origin`.",
          },
        },
      },
      security: [{ management_key: [] }, { session: [] }],
    },
    transform: toDocumented,
    transformObject: prune,
  })
  for (const operation of operations) app.route({ ...toRoute(operation), handler: () => undefined })
  await app.ready()
  const document = app.swagger()
  await app.close()
  // Without what JSON cannot have.
  return JSON.parse(
    JSON.stringify({
      ...document,
      paths: { ...document.paths, ...BROWSER_DOCUMENTS },
      servers: [{ url: '/' }],
    }),
  )
}

/** Read by the document only: the route's handler checks the header. */
const IDEMPOTENCY_KEY = {
  'Idempotency-Key': {
    type: 'string',
    minLength: 1,
    maxLength: MAX_KEY_CHARS,
    pattern: '^[ -~]*$',
    description:
      'A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`.',
  },
}

/** Read by run-operation.ts. */
const IF_MATCH = {
  'If-Match': {
    type: 'string',
    description:
      'The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`.',
  },
}

/** Adds the page as a file to the responses, for `Accept: text/csv`. */
function withCsv(responses: unknown) {
  const { 200: page, ...others } = responses as Record<string, object>
  const content = { 'application/json': { schema: page }, 'text/csv': { schema: { type: 'string' } } }
  return { 200: { description: 'Default Response', content }, ...others }
}

/** A route without a body accepts `{}`, but the document does not ask for it. */
const toDocumented: Transform = document => {
  const { schema: transformed, url } = jsonSchemaTransform(document)
  const { bodyless, hasOptionalBody, creates, hasCsv, takesIfMatch } = document.route?.config ?? {}
  const headers = { ...(creates === true && IDEMPOTENCY_KEY), ...(takesIfMatch === true && IF_MATCH) }
  const schema = {
    ...transformed,
    ...(Object.keys(headers).length > 0 ? { headers: { type: 'object', properties: headers } } : {}),
    ...(hasCsv === true ? { response: withCsv(transformed?.response) } : {}),
    ...(hasOptionalBody === true ? { [OPTIONAL_BODY]: true } : {}),
  }
  if (bodyless !== true) return { schema, url }
  const { body: _, ...rest } = schema
  return { schema: rest, url }
}

/** Marks operations until their documents are whole: the library requires every body. */
const OPTIONAL_BODY = 'x-optional-body'

interface DocumentedOperation {
  [OPTIONAL_BODY]?: true
  readonly requestBody?: { required?: boolean }
}

function markOptionalBodies(paths: object): void {
  for (const operation of Object.values(paths).flatMap(
    path => Object.values(path) as DocumentedOperation[],
  )) {
    if (operation[OPTIONAL_BODY] === undefined) continue
    delete operation[OPTIONAL_BODY]
    if (operation.requestBody !== undefined) operation.requestBody.required = false
  }
}

/** Removes unused schemas: the transform adds every named schema twice, for input and for output. */
const prune: TransformObject = input => {
  const document = jsonSchemaTransformObject(input)
  markOptionalBodies(document.paths ?? {})
  const schemas = 'components' in document ? (document.components?.schemas ?? {}) : {}
  const used = new Set<string>()
  const collect = (part: unknown): void => {
    for (const [, name] of JSON.stringify(part).matchAll(/#\/components\/schemas\/([^"]+)/g)) {
      if (name === undefined || used.has(name)) continue
      used.add(name)
      collect(schemas[name as keyof typeof schemas])
    }
  }
  collect(document.paths)
  for (const name of Object.keys(schemas)) if (!used.has(name)) delete schemas[name as keyof typeof schemas]
  return document
}
