import { expect, test } from 'vitest'
import { openPasswords } from './password.ts'

/** Sixteen rounds: a hash takes some 0.1 ms. */
const SETTINGS = '$scrypt$ln=4,r=8,p=1$c2FsdHNhbHRzYWx0c2E'

test('a network that fills the queue is refused, and a password from another one is hashed in its turn', async () => {
  const passwords = openPasswords()
  const order: string[] = []
  const add = (party: string): Promise<number> =>
    passwords.hash('a password', SETTINGS, party).then(() => order.push(party))
  // Two run and 64 wait.
  const flood = Array.from({ length: 66 }, () => add('203.0.113.0/24'))
  const refused = { code: 'control_rate_limit_exceeded', retryAfterSeconds: 15 }
  await expect(add('203.0.113.0/24')).rejects.toMatchObject(refused)
  const outcomes = Promise.allSettled(flood)
  await add('192.0.2.0/24')
  expect(order.indexOf('192.0.2.0/24')).toBeLessThan(6)
  const lost = (await outcomes).filter(({ status }) => status === 'rejected')
  expect(lost).toMatchObject([{ reason: refused }])
})
