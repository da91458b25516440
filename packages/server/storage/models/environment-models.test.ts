import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import {
  addCredential,
  addTree,
  below,
  CREATED,
  newId,
  type Tree,
} from '../../testing/harness/storage-rows.ts'
import { cutToRoom } from '../discovered-models.ts'
import type { Db } from '../pool.ts'
import { isUniqueViolation } from '../unique-violation.ts'
import {
  CUSTOM_MODEL_NAME_CONSTRAINT,
  findCustomModel,
  insertCustomModel,
  updateCustomModel,
} from './custom-models.ts'
import { getEnvironmentModels } from './environment-models.ts'
import {
  findModelAlias,
  insertModelAlias,
  MODEL_ALIAS_NAME_CONSTRAINT,
  updateModelAlias,
} from './model-aliases.ts'

const LATER = new Date(CREATED.getTime() + 60_000)
const MODEL = { capabilities: [], context_window: null, max_output_tokens: null, pricing: null }

describe.each(listTestServers())('model names on $label', server => {
  let database: FreshDatabase
  let db: Db
  let tree: Tree
  beforeAll(async () => {
    database = await freshDatabase(server)
    db = database.db
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    tree = await addTree(db)
  })

  test('resolve by the credentials, oldest first, and the custom models of their environment', async () => {
    const younger = { provider: 'openai', discovered_models: ['gpt-x', 'gpt-y'], created_at: LATER }
    await addCredential(db, tree.environment, younger)
    await addCredential(db, tree.environment, { provider: 'anthropic' })
    await insertCustomModel(db, { ...below(tree.environment), model: 'custom/a/b', ...MODEL })
    const other = await addTree(db)
    await addCredential(db, other.environment, { provider: 'groq' })
    await insertCustomModel(db, { ...below(other.environment), model: 'custom/c', ...MODEL })
    const found = await getEnvironmentModels(db, { ...tree.environment, allowed_models: ['openai/*'] })
    expect(found).toMatchObject({ name: 'development', allowedModels: ['openai/*'] })
    expect(found.credentials).toEqual([
      { provider: 'anthropic', discovered: new Set() },
      { provider: 'openai', discovered: new Set(['gpt-x', 'gpt-y']) },
    ])
    expect([...found.customModels.keys()]).toEqual(['custom/a/b'])
    expect(found.customModels.get('custom/a/b')).toMatchObject({ id: 'a/b', pricing: null })
  })

  test('of younger credentials are left out where those before them fill the bounds of an environment', async () => {
    const add = async (prefix: string, count: number, minutes: number, environment = tree.environment) => {
      const created_at = new Date(CREATED.getTime() + minutes * 60_000)
      const { id } = await addCredential(db, environment, { provider: prefix, created_at })
      // As two that are written at once, or an earlier version, leave them.
      await sql`update provider_credentials set discovered_models =
        (select array_agg(${prefix} || i) from generate_series(1, ${count}) i) where id = ${id}`.execute(db)
    }
    const sizes = async (environment = tree.environment) =>
      (await getEnvironmentModels(db, environment)).credentials.map(({ discovered }) => discovered.size)
    await add('younger', 1, 2)
    await add('old', 20_000, 1)
    expect(await sizes()).toEqual([20_000, 0])
    const other = (await addTree(db)).environment
    await add('x'.repeat(250), 4_000, 1, other)
    await add('y'.repeat(250), 4_000, 2, other)
    expect(await sizes(other)).toEqual([4_000, 0])
  })

  test('are stored up to the bounds of the environment, with those of other lists', async () => {
    const name = (letter: string, index: number) => `${letter}${index}`.padEnd(256, '-')
    const list = (letter: string, count: number) => Array.from({ length: count }, (_, i) => name(letter, i))
    const { discovered_models: first } = await addCredential(db, tree.environment, {
      discovered_models: list('a', 4_000),
    })
    const second = await addCredential(db, tree.environment, { discovered_models: list('b', 100) })
    expect([first.length, second.discovered_models]).toEqual([4_000, list('b', 96)])
    const third = await addCredential(db, tree.environment, { discovered_models: ['c'] })
    expect(third.discovered_models).toEqual([])
    const room = await cutToRoom(db, tree.environment.id, second.id, list('d', 100))
    expect(room).toEqual(list('d', 96))
    const other = (await addTree(db)).environment
    const short = Array.from({ length: 20_001 }, (_, i) => `${i}`)
    expect(await cutToRoom(db, other.id, newId(), short)).toEqual(short.slice(0, 20_000))
  })

  test('are unique in their environment if they are of an alias, whose targets can be replaced', async () => {
    const toAlias = (environment = tree.environment) =>
      ({ ...below(environment), alias: 'fast', strategy: 'priority', targets: '[]' }) as const
    const { id } = await insertModelAlias(db, toAlias())
    await insertModelAlias(db, toAlias((await addTree(db)).environment))
    const error = await insertModelAlias(db, toAlias()).catch(failure => failure)
    expect(isUniqueViolation(error, MODEL_ALIAS_NAME_CONSTRAINT)).toBe(true)
    const targets = [{ model: 'openai/gpt-x', weight: null, timeout_ms: null, max_retries: 1 }]
    const change = { strategy: 'lowest_cost', targets: JSON.stringify(targets) } as const
    const changed = await updateModelAlias(db, id, change, LATER)
    expect(changed).toMatchObject({ alias: 'fast', strategy: 'lowest_cost', targets, updated_at: LATER })
    expect(await findModelAlias(db, id)).toEqual(changed)
    expect(await updateModelAlias(db, newId(), change, LATER)).toBeUndefined()
  })

  test('are unique in their environment if they are of a custom model, whose price can become unknown', async () => {
    const pricing = {
      input_usd_per_mtok: 0.1,
      output_usd_per_mtok: 0.2,
      cached_input_usd_per_mtok: null,
      cache_write_usd_per_mtok: null,
    }
    const toModel = () => ({
      ...below(tree.environment),
      ...MODEL,
      model: 'custom/m',
      pricing: JSON.stringify(pricing),
    })
    const { id } = await insertCustomModel(db, toModel())
    expect((await findCustomModel(db, id))?.pricing).toEqual(pricing)
    const error = await insertCustomModel(db, toModel()).catch(failure => failure)
    expect(isUniqueViolation(error, CUSTOM_MODEL_NAME_CONSTRAINT)).toBe(true)
    const change = { ...MODEL, model: 'custom/n' }
    expect(await updateCustomModel(db, id, change, LATER)).toMatchObject({ model: 'custom/n', pricing: null })
    expect(await updateCustomModel(db, newId(), change, LATER)).toBeUndefined()
  })
})
