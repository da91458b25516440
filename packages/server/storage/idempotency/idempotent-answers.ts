import type { Pool } from 'pg'
import type { SecretBox } from '../../core/access/secret-box.ts'

/** A claim on a key: who holds it makes the answer. */
export interface NewClaim {
  /** Different for each claim. */
  readonly id: string
  /** SHA-256 of the key and its scope. */
  readonly hash: Buffer
  readonly bodyHash: Buffer
  readonly orgId: string
  readonly environmentId: string
  /** The process that makes the answer. */
  readonly owner: string
}

/** What is stored for a key. */
export interface StoredClaim {
  readonly id: string
  readonly hash: Buffer
  readonly bodyHash: Buffer
  readonly owner: string
  /** True: the answer is complete. */
  readonly isKept: boolean
  /** True: the answer has expired, or the process that was to make it is gone. */
  readonly isFree: boolean
  /** The size of the answer. */
  readonly bytes: number
}

/** How long an answer is kept. */
const KEPT = "interval '24 hours'"

/**
 * Claims keys in one statement. Returns the ids of the claims whose keys had no row. The rows are inserted in the order of
 * their hashes, so that concurrent statements never wait for each other in a circle.
 */
export async function insertClaims(pool: Pool, claims: readonly NewClaim[]): Promise<Set<string>> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'insert_idempotency_claims',
    text: `insert into idempotent_answers (id, hash, body_hash, org_id, environment_id, owner)
      select * from unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::uuid[], $5::uuid[], $6::uuid[])
        as claim (id, hash, body_hash, org_id, environment_id, owner)
      order by hash on conflict (hash) do nothing returning id`,
    values: [
      claims.map(({ id }) => id),
      claims.map(({ hash }) => hash),
      claims.map(({ bodyHash }) => bodyHash),
      claims.map(({ orgId }) => orgId),
      claims.map(({ environmentId }) => environmentId),
      claims.map(({ owner }) => owner),
    ],
  })
  return new Set(rows.map(({ id }) => id))
}

export async function listClaims(pool: Pool, hashes: readonly Buffer[]): Promise<StoredClaim[]> {
  const { rows } = await pool.query<StoredClaim>({
    name: 'find_idempotency_claims',
    text: `select id, hash, body_hash as "bodyHash", owner, expires_at is not null as "isKept",
        case when expires_at is null then not is_idempotency_owner_alive(owner) else expires_at <= now() end as "isFree",
        answer_bytes as bytes
      from idempotent_answers where hash = any($1::bytea[])`,
    values: [hashes],
  })
  return rows
}

/** Replaces a claim that was found to be free. Of concurrent callers one gets true. */
export async function takeOverClaim(pool: Pool, claim: NewClaim, previousId: string): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'take_over_idempotency_claim',
    text: `update idempotent_answers set id = $1, body_hash = $2, owner = $3, claimed_at = now(), expires_at = null,
        answer_bytes = 0, answer_cipher = null
      where id = $4`,
    values: [claim.id, claim.bodyHash, claim.owner, previousId],
  })
  return rowCount === 1
}

/** The complete answer of a claim. */
export interface NewAnswer {
  readonly claimId: string
  readonly bytes: Buffer
}

/**
 * Stores answers in one statement. Returns the ids of the claims that were not taken over. Stores the same twice without
 * harm.
 */
export async function keepAnswers(
  pool: Pool,
  secretBox: SecretBox,
  answers: readonly NewAnswer[],
): Promise<Set<string>> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'keep_idempotent_answers',
    text: `update idempotent_answers a
      set expires_at = now() + ${KEPT}, answer_bytes = kept.bytes, answer_cipher = kept.cipher
      from unnest($1::uuid[], $2::integer[], $3::bytea[]) as kept (id, bytes, cipher)
      where a.id = kept.id returning a.id`,
    values: [
      answers.map(({ claimId }) => claimId),
      answers.map(({ bytes }) => bytes.length),
      answers.map(({ claimId, bytes }) => secretBox.seal(bytes, toContext(claimId))),
    ],
  })
  return new Set(rows.map(({ id }) => id))
}

/** An answer as it is stored. */
export interface SealedAnswer {
  readonly claimId: string
  /** The size of the answer itself. */
  readonly bytes: number
  readonly sealed: Buffer
}

/** Seals a long answer in steps. */
export function* sealAnswer(
  secretBox: SecretBox,
  { claimId, bytes }: NewAnswer,
): Generator<void, SealedAnswer> {
  const sealed = yield* secretBox.sealSteps(bytes, toContext(claimId))
  return { claimId, bytes: bytes.length, sealed }
}

/** Does what keepAnswers does, for one long answer: in a list its bytes would be written in hex, which takes 40 ms for 16 MiB. */
export async function keepSealedAnswer(
  pool: Pool,
  { claimId, bytes, sealed }: SealedAnswer,
): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'keep_idempotent_answer',
    text: `update idempotent_answers set expires_at = now() + ${KEPT}, answer_bytes = $2, answer_cipher = $3
      where id = $1`,
    values: [claimId, bytes, sealed],
  })
  return rowCount === 1
}

/** An answer as it was read. */
export interface ReadAnswer {
  readonly claimId: string
  /** What is sealed, in pieces. */
  readonly pieces: readonly Buffer[]
  /** For how long it is still kept, in milliseconds. */
  readonly leftMs: number
}

/** The bytes of a piece of what is sealed. */
export const PIECE_BYTES = 256 * 1024

/**
 * Returns an answer; undefined if it is gone. In pieces, since one value of 16 MiB comes as text of 32 MiB, which pg reads in one tick of
 * 50 ms: each piece is a row, and rows are read as they arrive. One statement, so that all pieces are of one state of the row.
 */
export async function readAnswer(pool: Pool, claimId: string): Promise<ReadAnswer | undefined> {
  const { rows } = await pool.query<{ at: number; piece: Buffer; left_ms: number }>({
    name: 'read_idempotent_answer',
    text: `select at, substring(answer_cipher from at * $2 + 1 for $2) as piece,
        (extract(epoch from expires_at - now()) * 1000)::float8 as left_ms
      from idempotent_answers, generate_series(0, (octet_length(answer_cipher) - 1) / $2) at
      where id = $1 and expires_at > now()`,
    values: [claimId, PIECE_BYTES],
  })
  const [row] = rows
  if (row === undefined) return undefined
  const pieces = rows.sort((a, b) => a.at - b.at).map(({ piece }) => piece)
  return { claimId, pieces, leftMs: row.left_ms }
}

/** Opens an answer, and yields after each piece. Throws SecretBoxError. */
export function* openAnswer(secretBox: SecretBox, { claimId, pieces }: ReadAnswer): Generator<void, Buffer> {
  return yield* secretBox.openSteps(pieces, toContext(claimId))
}

/** Removes claims without an answer, which frees their keys. */
export async function releaseClaims(pool: Pool, claimIds: readonly string[]): Promise<void> {
  await pool.query({
    name: 'release_idempotency_claims',
    text: 'delete from idempotent_answers where id = any($1::uuid[]) and expires_at is null',
    values: [claimIds],
  })
}

/** Proves that a process is alive: its claims stay its own for ten seconds. */
export async function renewOwner(pool: Pool, owner: string): Promise<void> {
  await pool.query({
    name: 'renew_idempotency_owner',
    text: `insert into idempotency_owners (id, renewed_at) values ($1, clock_timestamp())
      on conflict (id) do update set renewed_at = excluded.renewed_at`,
    values: [owner],
  })
}

/** Frees the claims of a process that ends; without `owner` those of all processes. */
export async function removeOwners(pool: Pool, owner?: string): Promise<void> {
  await pool.query('delete from idempotency_owners where $1::uuid is null or id = $1', [owner ?? null])
}

function toContext(claimId: string): string {
  return `idempotent_answers:${claimId}`
}
