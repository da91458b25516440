import { runAtOnce } from '@rideau/llm/json/run-at-once'
import type { Pool } from 'pg'
import type { SecretBox } from '../../core/access/secret-box.ts'
import type { AnswerOwner, AnswerStore } from '../../gateway/idempotency/answer-store.ts'
import { GroupedQueries } from '../../http/fairness/grouped-queries.ts'
import type { WorkOwner } from '../../http/fairness/loop-turns.ts'
import { runSteps } from '../../http/fairness/sliced-work.ts'
import {
  insertClaims,
  keepAnswers,
  keepSealedAnswer,
  listClaims,
  type NewAnswer,
  type NewClaim,
  openAnswer,
  type ReadAnswer,
  readAnswer,
  releaseClaims,
  removeOwners,
  renewOwner,
  type StoredClaim,
  sealAnswer,
  takeOverClaim,
} from '../../storage/idempotency/idempotent-answers.ts'
import { DatabaseSlots } from './database-slots.ts'

/** Rows of one statement. */
const MAX_ROWS = 500
/** Bytes of answers of one statement. A longer answer has one of its own. */
const MAX_BYTES = 1024 * 1024
/** Bytes of answers of one organization that wait for a statement. */
const MAX_WAITING_BYTES = 16 * MAX_BYTES
/** Long answers that are stored at once. One organization has one of them: a statement takes 0.1 s for 16 MiB. */
const LONG_KEEPS = 2
/** A request waits no longer for its answer to be stored. */
const LONG_KEEP_WAIT_MS = 2_000

interface AnswerStoreParts {
  readonly pool: Pool
  /** For renewals alone: they do not wait behind other statements. */
  readonly renewals: Pool
  readonly secretBox: SecretBox
  readonly slots: DatabaseSlots
}

/** An answer and whose it is. */
interface OwnedAnswer extends NewAnswer {
  readonly owner: AnswerOwner
}

/** Opens what the database keeps for idempotency keys. */
export function openAnswerStore({ pool, renewals, secretBox, slots }: AnswerStoreParts): AnswerStore {
  const inserts = new GroupedQueries<NewClaim, boolean>({
    maxSize: MAX_ROWS,
    async run(claims) {
      const inserted = await insertClaims(pool, claims)
      return claims.map(({ id }) => inserted.has(id))
    },
  })
  const finds = new GroupedQueries<Buffer, StoredClaim | undefined>({
    maxSize: MAX_ROWS,
    async run(hashes) {
      const found = await listClaims(pool, hashes)
      const byHash = new Map(found.map(entry => [entry.hash.toString('base64'), entry]))
      return hashes.map(hash => byHash.get(hash.toString('base64')))
    },
  })
  const releases = new GroupedQueries<string, undefined>({
    maxSize: MAX_ROWS,
    async run(claimIds) {
      await releaseClaims(pool, claimIds)
      return claimIds.map(() => undefined)
    },
  })
  return {
    renewOwner: owner => renewOwner(renewals, owner),
    removeOwner: owner => removeOwners(pool, owner),
    insert: claim => inserts.query(claim),
    find: hash => finds.query(hash),
    findAll: hashes => listClaims(pool, hashes),
    takeOver: (claim, previousId) => takeOverClaim(pool, claim, previousId),
    keep: openKeep(pool, secretBox),
    async read(claimId, owner) {
      const found = await slots.run(owner, () => readAnswer(pool, claimId))
      return found && { bytes: await open(secretBox, found, owner), leftMs: found.leftMs }
    },
    release: async claimIds => {
      await Promise.all(claimIds.map(id => releases.query(id)))
    },
  }
}

/** Returns what stores an answer: short ones together, long ones one at a time for each organization, sealed in its turns. */
function openKeep(pool: Pool, secretBox: SecretBox): AnswerStore['keep'] {
  const keeps = new GroupedQueries<OwnedAnswer, boolean>({
    maxSize: MAX_BYTES,
    maxWaiting: MAX_WAITING_BYTES,
    sizeOf: ({ bytes }) => bytes.length,
    ownerOf: ({ owner }) => owner.orgId,
    async run(answers) {
      const kept = await keepAnswers(pool, secretBox, answers)
      return answers.map(({ claimId }) => kept.has(claimId))
    },
  })
  const longKeeps = new DatabaseSlots(pool, {
    max: LONG_KEEPS,
    perOrganization: 1,
    waitMs: LONG_KEEP_WAIT_MS,
  })
  return (claimId, bytes, owner) => {
    if (bytes.length <= MAX_BYTES) return keeps.query({ claimId, bytes, owner })
    // Sealed once it has its turn: what waits would take twice the memory.
    return longKeeps.run(owner, async () => {
      const sealed = await runSteps(sealAnswer(secretBox, { claimId, bytes }), toWorkOwner(owner))
      return await keepSealedAnswer(pool, sealed)
    })
  }
}

/** A short answer waits for no turn in the event loop. */
async function open(secretBox: SecretBox, found: ReadAnswer, owner: AnswerOwner): Promise<Buffer> {
  const steps = openAnswer(secretBox, found)
  return found.pieces.length === 1 ? runAtOnce(steps) : await runSteps(steps, toWorkOwner(owner))
}

function toWorkOwner({ orgId, environmentId }: AnswerOwner): WorkOwner {
  return { environment: { orgId, id: environmentId }, caller: undefined, endUser: undefined }
}
