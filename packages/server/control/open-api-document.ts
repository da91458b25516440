import Fastify from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { registerOpenApi } from './open-api.ts'
import { operations } from './operations.ts'
import { toRoute } from './register-operations.ts'

/** Returns the document of GET /openapi.json without the host, made from the operations alone, without a database. */
export async function createOpenApiDocument(): Promise<object> {
  const app = Fastify()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  await registerOpenApi(app, { baseUrl: () => '/' })
  for (const operation of operations) app.route({ ...toRoute(operation), handler: () => undefined })
  const { payload } = await app.inject('/openapi.json')
  await app.close()
  return JSON.parse(payload)
}
