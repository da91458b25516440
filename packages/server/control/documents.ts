import type { FastifyInstance } from 'fastify'
import { errorPage } from '../http/answer/docs-errors.ts'
import { type Readiness, toReadinessAnswer } from '../http/metrics/readiness.ts'

/** Load balancers probe by HEAD too; these are the only routes that serve both methods. */
const PROBE = { exposeHeadRoute: true }

/** Registers the routes that need neither a credential nor a tenant: the error reference and the two probes. */
export function registerDocuments(
  app: FastifyInstance,
  deps: { readonly getReadiness: () => Readiness | Promise<Readiness> },
): void {
  const page = errorPage()
  app.get('/docs/errors', (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('Content-Security-Policy', page.contentSecurityPolicy)
      .header('Cache-Control', 'public, max-age=3600')
      .send(page.html),
  )
  app.get('/healthz', PROBE, (_request, reply) =>
    reply.header('Cache-Control', 'no-store').send({ status: 'ok' }),
  )
  app.get('/readyz', PROBE, async (_request, reply) => {
    const { status, body } = toReadinessAnswer(await deps.getReadiness())
    return await reply.code(status).header('Cache-Control', 'no-store').send(body)
  })
}
