import { describe, expect, test } from 'vitest'
import { type Actor, hasRole, organizationsOf, type Role, roleIn } from './permissions.ts'

const actor: Actor = { kind: 'management_key', id: 'k', orgId: 'org-a', role: 'developer' }

describe('roles', () => {
  test('each role includes the lower ones and excludes the higher ones', () => {
    const ordered: Role[] = ['viewer', 'developer', 'admin', 'owner']
    for (const [held, heldRole] of ordered.entries()) {
      for (const [needed, neededRole] of ordered.entries()) {
        expect(hasRole(heldRole, neededRole)).toBe(held >= needed)
      }
    }
  })

  test('a management key has its role in its own organization and none in another', () => {
    expect(roleIn(actor, 'org-a')).toBe('developer')
    expect(roleIn(actor, 'org-b')).toBeUndefined()
    expect(organizationsOf(actor)).toEqual(['org-a'])
  })
})
