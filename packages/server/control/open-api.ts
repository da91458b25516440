import type { FastifyInstance } from 'fastify'
import document from '../../../docs/openapi.json' with { type: 'json' }
import { assertKnownQuery } from '../http/head/assert-known-query.ts'
import { pack, takesGzip } from './operation/compress-answer.ts'

/**
 * Serves the committed document (open-api-document.ts). Making it takes 0.3 s of the event loop, which the first caller of a process
 * would cost all others. Reading it at the start costs each process some 10 ms and 1.5 MB.
 */
export function registerOpenApi(app: FastifyInstance, urls: { baseUrl: () => string }): void {
  // Any caller may ask for it, and writing it takes milliseconds.
  let served: { readonly baseUrl: string; readonly text: Promise<ServedText> } | undefined
  app.get('/openapi.json', async (request, reply) => {
    assertKnownQuery(request.url, [])
    const baseUrl = urls.baseUrl()
    if (served?.baseUrl !== baseUrl) {
      const writing = { baseUrl, text: writeDocument(baseUrl) }
      served = writing
      // One failure must not be the answer to all later requests.
      writing.text.catch(() => {
        if (served === writing) served = undefined
      })
    }
    const { plain, packed } = await served.text
    reply.type('application/json; charset=utf-8').header('Vary', 'Accept-Encoding')
    if (!takesGzip(request)) return reply.send(plain)
    return reply.header('Content-Encoding', 'gzip').send(packed)
  })
}

interface ServedText {
  readonly plain: Buffer
  readonly packed: Buffer
}

async function writeDocument(baseUrl: string): Promise<ServedText> {
  const text = JSON.stringify({ ...document, servers: [{ url: baseUrl }] })
  return { plain: Buffer.from(text), packed: await pack(text) }
}
