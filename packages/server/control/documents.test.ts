import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FAULTS } from '../core/fault-table.ts'
import { type ControlPlane, openControlPlane } from '../testing/harness/control-plane.ts'
import { operations } from './operations.ts'

let plane: ControlPlane
let ready = { ready: true, reasons: [] as string[] }
beforeAll(async () => {
  plane = await openControlPlane({ getReadiness: () => ready })
})
afterAll(() => plane.close())

describe('GET /docs/errors', () => {
  test('lists every code at the anchor that doc_url names', async () => {
    const { status, headers, text } = await plane.call('GET', '/docs/errors')
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    for (const code of Object.keys(FAULTS)) expect(text.split(` id="${code}"`)).toHaveLength(2)
  })

  test('sends a content security policy that allows only its own style sheet', async () => {
    const { headers, text } = await plane.call('GET', '/docs/errors')
    const css = /<style>([^]*)<\/style>/.exec(text)?.[1] ?? ''
    const hash = createHash('sha256').update(css).digest('base64')
    expect(headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    )
    expect(text).not.toMatch(/<script|style=|src=|href="(?!#)|\son\w+=/)
  })
})

describe('probes', () => {
  test('GET /healthz answers 200 while the process runs', async () => {
    ready = { ready: false, reasons: ['the database is out of reach'] }
    expect((await plane.call('GET', '/healthz')).json).toEqual({ status: 'ok' })
  })

  test('GET /readyz reports whether the process can serve, and why not', async () => {
    ready = { ready: false, reasons: ['the database is out of reach'] }
    const not = await plane.call('GET', '/readyz')
    expect([not.status, not.json]).toEqual([503, { status: 'not_ready', reasons: ready.reasons }])
    ready = { ready: true, reasons: [] }
    const yes = await plane.call('GET', '/readyz')
    expect([yes.status, yes.json]).toEqual([200, { status: 'ready', reasons: [] }])
  })

  test('HEAD is served for the two probes and for no other route', async () => {
    for (const path of ['/healthz', '/readyz']) expect((await plane.call('HEAD', path)).status).toBe(200)
    const gets = operations.filter(({ method }) => method === 'GET').map(({ path }) => path)
    expect(gets.length).toBeGreaterThan(30)
    for (const path of ['/docs/errors', '/openapi.json', ...gets]) {
      const filled = path.replaceAll(/\{\w+\}/g, '00000000-0000-7000-8000-000000000000')
      expect((await plane.call('HEAD', filled)).status).toBe(404)
    }
  })

  test('every response carries X-Request-Id and security headers', async () => {
    for (const path of ['/healthz', '/readyz', '/docs/errors', '/openapi.json', '/nothing']) {
      const { headers } = await plane.call('GET', path)
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(headers.get('x-powered-by')).toBeNull()
    }
  })
})
