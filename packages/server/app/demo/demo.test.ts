import { expect, test } from 'vitest'
import { parseDemoArguments, toDemoEnv, toDemoText } from './demo.ts'

test('takes a folder of its own where none is given', () => {
  expect(toDemoEnv({}).RIDEAU_DATA_DIR).toBe('./data-demo')
  expect(toDemoEnv({ RIDEAU_DATA_DIR: 'x' }).RIDEAU_DATA_DIR).toBe('x')
})

test.each([
  [{ DATABASE_URL: 'postgres://x' }, 'DATABASE_URL'],
  [{ REDIS_URL: 'redis://x' }, 'REDIS_URL'],
  [{ RIDEAU_MASTER_KEY: 'x' }, 'RIDEAU_MASTER_KEY'],
  [{ NODE_ENV: 'production' }, 'NODE_ENV'],
])('refuses settings that reach other data or other people: %j', (env, name) => {
  expect(() => toDemoEnv(env)).toThrow(name)
})

test('reads --rows, and refuses anything else with what is accepted', () => {
  expect(parseDemoArguments([])).toBe(400_000)
  expect(parseDemoArguments(['--rows', '1000'])).toBe(1_000)
  for (const args of [['--rows', '0'], ['--rows', 'x'], ['--rows', '5000001'], ['--row', '3'], ['more']])
    expect(() => parseDemoArguments(args)).toThrow('--rows N')
})

test('prints the address that signs in to the project with the data', () => {
  const state = {
    filledAt: '2026-11-26T12:00:00.000Z',
    rows: 1,
    password: 'p',
    invitationToken: 'i',
    developmentKey: 'k',
  }
  expect(toDemoText(state, 'http://localhost:8788')).toContain(
    'http://localhost:8788/sign-in?next=/o/acme/chat-app/production/overview',
  )
})
