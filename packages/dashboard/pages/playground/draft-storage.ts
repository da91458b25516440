import { type Draft, INITIAL_DRAFT } from './draft.ts'

const keyOf = (environmentId: string): string => `rideau.draft.${environmentId}`

export function readDraft(environmentId: string): Draft {
  try {
    const stored = JSON.parse(sessionStorage.getItem(keyOf(environmentId)) ?? '{}') as Record<string, unknown>
    const texts = Object.entries(INITIAL_DRAFT).map(([name, first]) => {
      const value = stored[name]
      return [name, typeof value === 'string' ? value : first]
    })
    return Object.fromEntries(texts) as unknown as Draft
  } catch {
    return INITIAL_DRAFT
  }
}

export function storeDraft(environmentId: string, draft: Draft): void {
  sessionStorage.setItem(keyOf(environmentId), JSON.stringify(draft))
}
