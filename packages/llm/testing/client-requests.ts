import { existsSync, readFileSync } from 'node:fs'
import { FORMATS } from '../formats/index.ts'
import type { ChatServer } from '../formats/shared/server-format.ts'
import type { JsonObject } from '../json/json-value.ts'
import { toObject, toText } from '../json/json-value.ts'
import { hasRecordings, listRecordedRequests } from './recorded-requests.ts'

/** What real clients sent to a gateway, kept beside the repository; a clone elsewhere does not have it. */
const CLIENTS = new URL('../../../../shared/clients/requests.json', import.meta.url)

export const hasClientRequests = existsSync(CLIENTS) && hasRecordings

/** One chat request of a client, and the server side that reads it. */
export interface ClientRequest {
  readonly name: string
  readonly server: ChatServer
  /** The model of the path; empty: the body names it. */
  readonly pathModel: string
  readonly body: JsonObject
}

interface Route {
  readonly pattern: RegExp
  readonly server: ChatServer
}

const ROUTES: readonly Route[] = FORMATS.flatMap(({ served }) =>
  (served?.chat ?? []).map(({ path, server }): Route => {
    const [before = '', after = ''] = `${served?.mount.prefix ?? ''}${path}`.split('*').map(escape)
    return { pattern: new RegExp(path.includes('*') ? `^${before}(.+)${after}$` : `^${before}$`), server }
  }),
)

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/** Every recorded chat request: of clients, and of the recordings of providers, as their own clients sent them. */
export function listClientRequests(): ClientRequest[] {
  if (!hasClientRequests) return []
  const recorded = JSON.parse(readFileSync(CLIENTS, 'utf8')) as JsonObject[]
  const sent = recorded.flatMap(({ client, path, body }, at) =>
    toRequest(`${at} ${toText(client)}`, toText(path) ?? '', toObject(body)),
  )
  return [...sent, ...RECORDED.flatMap(listOf)]
}

function toRequest(name: string, path: string, body: JsonObject | undefined): ClientRequest[] {
  const [plain = ''] = path.split('?', 1)
  for (const { pattern, server } of ROUTES) {
    const found = pattern.exec(plain)
    if (found === null || body === undefined) continue
    return [{ name: `${name} ${path}`, server, pathModel: decodeURIComponent(found[1] ?? ''), body }]
  }
  return []
}

/** Folders and routes of recorded providers, and the path at which a client would send the same body here. */
const RECORDED: readonly (readonly [folders: readonly string[], api: string, path: string])[] = [
  [
    ['openai', 'openrouter', 'mistral', 'groq', 'deepseek', 'xai', 'azure', 'vercel-gateway', 'selfhosted'],
    'chat-completions',
    '/openai/v1/chat/completions',
  ],
  [['openai', 'azure', 'xai', 'deepseek'], 'responses', '/openai/v1/responses'],
  [['anthropic', 'vertex'], 'messages', '/anthropic/v1/messages'],
  [['gemini', 'vertex'], 'generateContent', '/gemini/v1beta/models/any:generateContent'],
  [['bedrock'], 'converse', '/bedrock/model/any/converse'],
  [['cohere'], 'cohere-chat', '/cohere/v2/chat'],
  [['ollama'], 'ollama-chat', '/ollama/api/chat'],
]

function listOf([folders, api, path]: (typeof RECORDED)[number]): ClientRequest[] {
  return folders
    .flatMap(folder => listRecordedRequests(folder, api))
    .filter(({ status }) => status === 200)
    .flatMap(({ name, body, model }) => toRequest(name, path, { model, ...body }))
}
