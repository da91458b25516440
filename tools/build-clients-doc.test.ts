import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from './build.mjs'
import { withTable } from './build-clients-doc.mjs'

const read = (file: string): string => fs.readFileSync(path.join(root, file), 'utf8')

describe('docs/clients.md', () => {
  test('has the table of the results in e2e/clients/results.json', () => {
    const page = read('docs/clients.md')
    expect(withTable(page, JSON.parse(read('e2e/clients/results.json')))).toBe(page)
  })

  test('has a row for every client, with the versions that its folder pins', () => {
    const results: Record<string, { versions: Record<string, string> }> = JSON.parse(
      read('e2e/clients/results.json'),
    )
    const folders = fs
      .readdirSync(path.join(root, 'e2e/clients'), { withFileTypes: true })
      .map(({ name }) => name)
      .filter(name => fs.existsSync(path.join(root, 'e2e/clients', name, 'package.json')))
      .filter(name => fs.existsSync(path.join(root, 'e2e/clients', name, 'client.mjs')))
    for (const name of folders) {
      const { dependencies } = JSON.parse(read(`e2e/clients/${name}/package.json`))
      const rows = Object.entries(results).filter(([client]) => client.split('/')[0] === name)
      expect([name, ...rows.map(([, { versions }]) => versions)]).toEqual([
        name,
        ...rows.map(() => dependencies),
      ])
      expect([name, rows.length === 0]).toEqual([name, false])
    }
  })
})
