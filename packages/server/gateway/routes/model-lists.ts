import type { ModelListEntry } from '@rideau/llm/formats/shared/listed-model'
import type { JsonObject } from '@rideau/llm/json/json-value'
import type { Environment } from '../../core/tenancy/tenancy.ts'
import { runSteps, takeTurn } from '../../http/fairness/sliced-work.ts'
import { sendJsonBytes } from '../edge/send.ts'
import type { IdentifiedContext } from '../request/request-context.ts'

/** Encodes a whole list. One that yields takes several turns for a long list. */
export type EncodeList = (models: readonly ModelListEntry[]) => Generator<void, Buffer>

/** Returns the encoder of a format's list. */
export function toEncodeList(encode: (models: readonly ModelListEntry[]) => JsonObject): EncodeList {
  return function* encodeList(models) {
    const body = encode(models)
    yield
    return Buffer.from(JSON.stringify(body))
  }
}

/** What the lists are made of. */
export interface ListSource {
  /** Returns the models and aliases that the caller may call, ordered by id. Yields between pieces of the work. */
  collect(ctx: IdentifiedContext): Generator<void, readonly ModelListEntry[]>
  /** Returns a text that is the same only for callers who get the same list of one version of an environment. */
  nameRights(ctx: IdentifiedContext): string
}

/** The models that some rights allow in a version of an environment. */
interface ModelList {
  readonly key: string
  readonly orgId: string
  readonly models: readonly ModelListEntry[]
  /** The encoded list by encoder. */
  readonly encoded: Map<EncodeList, Buffer>
  /** What it takes of memory, about. */
  bytes: number
}

/** What a listed model takes besides what the catalogue has of it. */
const LISTED_BYTES = 256
/** The memory for lists in one process. */
const MAX_BYTES = 32 * 1024 * 1024
/** Writing a longer answer takes a turn among long work: it may take a fraction of a millisecond. */
const LONG_BYTES = 64 * 1024

/**
 * Lists of models, made once for a version of an environment and the rights of its callers, since a list may have thousands of
 * models. All long work on them takes turns, so that the lists of one organization delay no other: making a list that is not in
 * memory, encoding it and sending a long one. Where there is no room for more bytes, the organization that has the most loses the list
 * that it used longest ago: making a long one again takes many turns.
 */
export class ModelLists {
  readonly #source: ListSource
  readonly #maxBytes: number
  /** Those used longest ago come first. */
  readonly #lists = new Map<string, ModelList>()
  readonly #building = new Map<string, Promise<ModelList>>()
  /** A number for each version of an environment that is in memory. A dropped version's lists are never found again. */
  readonly #versions = new WeakMap<Environment, number>()
  #lastVersion = 0
  readonly #bytesOf = new Map<string, number>()
  #bytes = 0

  constructor(source: ListSource, maxBytes = MAX_BYTES) {
    this.#source = source
    this.#maxBytes = maxBytes
  }

  /** What the lists take of memory, about. */
  get bytes(): number {
    return this.#bytes
  }

  /** Returns the models and aliases that the caller may call, ordered by id. */
  async list(ctx: IdentifiedContext): Promise<readonly ModelListEntry[]> {
    return (await this.#get(ctx)).models
  }

  /** Answers with the whole list. */
  async send(ctx: IdentifiedContext, encode: EncodeList): Promise<void> {
    const list = await this.#get(ctx)
    let bytes = list.encoded.get(encode)
    if (bytes === undefined) bytes = await this.#encode(ctx, list, encode)
    else if (bytes.length > LONG_BYTES) await takeTurn(ctx)
    ctx.assertNotStopped()
    sendJsonBytes(ctx, 200, bytes)
  }

  async #get(ctx: IdentifiedContext): Promise<ModelList> {
    const key = `${this.#versionOf(ctx.environment)} ${this.#source.nameRights(ctx)}`
    const known = this.#lists.get(key)
    if (known !== undefined) {
      this.#lists.delete(key)
      this.#lists.set(key, known)
      return known
    }
    const building = this.#building.get(key) ?? this.#build(ctx, key)
    return await building
  }

  #build(ctx: IdentifiedContext, key: string): Promise<ModelList> {
    const building = runSteps(this.#source.collect(ctx), ctx)
      .then(models => {
        const list: ModelList = { key, orgId: ctx.environment.orgId, models, encoded: new Map(), bytes: 0 }
        this.#lists.set(key, list)
        this.#grow(list, models.length * LISTED_BYTES + key.length)
        return list
      })
      .finally(() => this.#building.delete(key))
    this.#building.set(key, building)
    return building
  }

  async #encode(ctx: IdentifiedContext, list: ModelList, encode: EncodeList): Promise<Buffer> {
    // Concurrent requests wait for their turns, and all but the first one find what it made.
    await takeTurn(ctx)
    const known = list.encoded.get(encode)
    if (known !== undefined) return known
    const bytes = await runSteps(encode(list.models), ctx)
    if (list.encoded.has(encode)) return bytes
    list.encoded.set(encode, bytes)
    this.#grow(list, bytes.length)
    return bytes
  }

  /** Counts more bytes of a list, unless it was dropped, and drops lists above the bound. */
  #grow(list: ModelList, bytes: number): void {
    if (this.#lists.get(list.key) !== list) return
    list.bytes += bytes
    this.#count(list.orgId, bytes)
    while (this.#bytes > this.#maxBytes) {
      const oldest = this.#findOldestOfLargest()
      if (oldest === undefined) return
      this.#lists.delete(oldest.key)
      this.#count(oldest.orgId, -oldest.bytes)
    }
  }

  #findOldestOfLargest(): ModelList | undefined {
    let largest: string | undefined
    let most = 0
    for (const [orgId, bytes] of this.#bytesOf) {
      if (bytes <= most) continue
      largest = orgId
      most = bytes
    }
    for (const list of this.#lists.values()) if (list.orgId === largest) return list
    return undefined
  }

  #count(orgId: string, bytes: number): void {
    this.#bytes += bytes
    const own = (this.#bytesOf.get(orgId) ?? 0) + bytes
    if (own > 0) this.#bytesOf.set(orgId, own)
    else this.#bytesOf.delete(orgId)
  }

  #versionOf(environment: Environment): number {
    const known = this.#versions.get(environment)
    if (known !== undefined) return known
    this.#versions.set(environment, ++this.#lastVersion)
    return this.#lastVersion
  }
}
