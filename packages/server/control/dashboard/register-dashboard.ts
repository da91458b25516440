import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type DashboardFile, loadFiles } from './load-files.ts'

export interface DashboardOptions {
  /** The folder that tools/build-dashboard.mjs made; undefined: there is no dashboard. */
  readonly dashboardDir?: string | undefined
  readonly baseUrl: () => string
  /** The pages call the gateway, which is another origin. */
  readonly gatewayUrl: () => string
}

/**
 * The addresses of pages. Every other path stays what it was: an unknown route of the API is 404 `route_not_found`, never a page.
 * `/o/*` is everything inside an organization.
 */
const PAGES = ['/', '/setup', '/sign-in', '/accept-invitation', '/reset-password', '/account', '/o/*']

const ONE_YEAR = 'public, max-age=31536000, immutable'

/** Serves the dashboard: its pages, which are one document, and the assets, whose names change with their contents. */
export function registerDashboard(app: FastifyInstance, options: DashboardOptions): void {
  if (options.dashboardDir === undefined) return
  const files = loadFiles(options.dashboardDir)
  const index = files.get('/index.html')
  if (index === undefined) throw new Error(`no index.html in ${options.dashboardDir}`)
  for (const url of PAGES) {
    app.get(url, (request, reply) => {
      const elsewhere = findOwnAddress(request, options.baseUrl())
      if (elsewhere !== undefined) return reply.redirect(elsewhere, 302)
      reply.header('Content-Security-Policy', contentSecurityPolicy(options.gatewayUrl()))
      return sendFile(request, reply, index, 'no-cache')
    })
  }
  for (const [url, file] of files) {
    if (file === index) continue
    const cacheControl = url.startsWith('/assets/') ? ONE_YEAR : 'public, max-age=3600'
    app.get(url, (request, reply) => sendFile(request, reply, file, cacheControl))
  }
}

function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: DashboardFile,
  cacheControl: string,
): FastifyReply {
  const accepted = request.headers['accept-encoding']
  const [encoding, body] = chooseEncoding(file, typeof accepted === 'string' ? accepted : '')
  const etag = `"${file.digest}${encoding === undefined ? '' : `-${encoding}`}"`
  reply.header('Cache-Control', cacheControl).header('Vary', 'Accept-Encoding').header('ETag', etag)
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  if (encoding !== undefined) reply.header('Content-Encoding', encoding)
  return reply.type(file.type).send(body)
}

/** A coding with a weight of zero counts as accepted: no browser sends one. */
function chooseEncoding(file: DashboardFile, accepted: string): [encoding: string | undefined, body: Buffer] {
  if (file.brotli !== undefined && /\bbr\b/.test(accepted)) return ['br', file.brotli]
  if (file.gzip !== undefined && /\bgzip\b/.test(accepted)) return ['gzip', file.gzip]
  return [undefined, file.plain]
}

/** No inline script or style, no other host than the gateway. */
function contentSecurityPolicy(gatewayUrl: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    `connect-src 'self' ${new URL(gatewayUrl).origin}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Returns the same address under the base URL where a browser on this machine used another name of it, such as `localhost`. The
 * gateway accepts the dashboard's calls from the base URL's origin only.
 */
function findOwnAddress(request: FastifyRequest, baseUrl: string): string | undefined {
  const own = new URL(baseUrl)
  const [, name = '', port = ''] = /^(.*?)(?::(\d+))?$/.exec(request.headers.host ?? '') ?? []
  const isOther = name !== own.hostname && LOOPBACK_NAMES.has(name) && LOOPBACK_NAMES.has(own.hostname)
  // A path with two slashes at its start would name a host.
  if (!isOther || port !== own.port || request.url.startsWith('//')) return undefined
  return `${own.origin}${request.url}`
}
