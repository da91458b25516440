import type { TestHouse } from './app.ts'

/** A client token of the owner's own, as the dashboard's playground gets it. */
export async function makePlaygroundToken(house: TestHouse): Promise<string> {
  const { headers } = await house.manage('POST', '/v1/session', {
    email: 'owner@example.com',
    password: 'a long enough password',
  })
  const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  const made = await fetch(`${house.controlUrl}/v1/environments/${house.developmentId}/playground-token`, {
    method: 'POST',
    headers: { cookie, 'x-rideau-csrf': '1', origin: house.controlUrl },
  })
  const { token } = (await made.json()) as { token?: string }
  if (token === undefined) throw new Error(`no token: ${made.status}`)
  return token
}
