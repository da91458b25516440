import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDemoFolder, storeDemoState } from './demo-folder.ts'

let parent: string
beforeEach(() => {
  parent = mkdtempSync(path.join(tmpdir(), 'rideau-demo-'))
})
afterEach(() => rmSync(parent, { recursive: true, force: true }))

const STATE = {
  filledAt: '2026-11-22T12:00:00.000Z',
  rows: 5,
  password: 'p',
  invitationToken: 't',
  developmentKey: 'k',
}

test('takes a new and an empty folder, and finds what it was filled with later', () => {
  const folder = path.join(parent, 'new')
  expect(openDemoFolder(folder)).toBeUndefined()
  storeDemoState(folder, STATE)
  expect(openDemoFolder(folder)).toEqual(STATE)
  expect(statSync(path.join(folder, 'demo.json')).mode & 0o777).toBe(0o600)
})

test('refuses a folder that holds anything else', () => {
  writeFileSync(path.join(parent, 'master.key'), '')
  expect(() => openDemoFolder(parent)).toThrow('holds something else than a demo')
})

test('refuses a folder whose filling was interrupted', () => {
  const folder = path.join(parent, 'half')
  openDemoFolder(folder)
  expect(() => openDemoFolder(folder)).toThrow('was not filled to its end')
})
