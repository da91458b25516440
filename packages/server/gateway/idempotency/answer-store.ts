import type { NewClaim, StoredClaim } from '../../storage/idempotency/idempotent-answers.ts'

/** Whose answer it is. */
export interface AnswerOwner {
  readonly orgId: string
  readonly environmentId: string
}

/** What the database keeps for idempotency keys; see storage/idempotency/idempotent-answers.ts. */
export interface AnswerStore {
  readonly renewOwner: (owner: string) => Promise<void>
  readonly removeOwner: (owner: string) => Promise<void>
  readonly insert: (claim: NewClaim) => Promise<boolean>
  readonly find: (hash: Buffer) => Promise<StoredClaim | undefined>
  readonly findAll: (hashes: readonly Buffer[]) => Promise<StoredClaim[]>
  readonly takeOver: (claim: NewClaim, previousId: string) => Promise<boolean>
  /** Returns false if the claim was taken over. Organizations take turns. Rejects if too much of one waits. */
  readonly keep: (claimId: string, answer: Buffer, owner: AnswerOwner) => Promise<boolean>
  readonly read: (
    claimId: string,
    owner: AnswerOwner,
  ) => Promise<{ readonly bytes: Buffer; readonly leftMs: number } | undefined>
  readonly release: (claimIds: readonly string[]) => Promise<void>
}
