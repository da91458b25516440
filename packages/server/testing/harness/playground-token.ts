import type { TestApp } from './app.ts'

/** Creates a client token of the owner, as the dashboard's playground does. */
export async function makePlaygroundToken(app: TestApp): Promise<string> {
  const { headers } = await app.manage('POST', '/v1/session', {
    email: 'owner@example.com',
    password: 'a long enough password',
  })
  const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  const made = await fetch(`${app.controlUrl}/v1/environments/${app.developmentId}/playground-token`, {
    method: 'POST',
    headers: { cookie, 'x-rideau-csrf': '1', origin: app.controlUrl },
  })
  const { token } = (await made.json()) as { token?: string }
  if (token === undefined) throw new Error(`no token: ${made.status}`)
  return token
}
