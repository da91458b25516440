type Json = unknown
type JsonObject = Readonly<Record<string, Json>>

/** One message of a captured conversation. */
export interface Message {
  readonly role: string
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly arguments: string }[]
  /** Parts that are not text, such as images. */
  readonly otherParts: number
}

/**
 * Reads the messages of a captured request and of its answer in any format. Returns undefined for bodies that are not a conversation,
 * were cut off, or are not JSON.
 */
export function readConversation(
  request: string | null,
  answer: string | null,
): readonly Message[] | undefined {
  const body = parseObject(request)
  if (body === undefined) return undefined
  const requestTurns = listRequestTurns(body)
  if (requestTurns.length === 0) return undefined
  const system = body.system ?? body.instructions ?? body.systemInstruction ?? body.system_instruction
  return [
    ...(system === undefined || system === null ? [] : [toMessage({ role: 'system', ...toContent(system) })]),
    ...requestTurns.map(toMessage),
    ...listAnswered(parseObject(answer)).map(message => toMessage({ role: 'assistant', ...message })),
  ]
}

/** OpenAI, Anthropic, Converse, Cohere and Ollama have `messages`, Responses has `input`, Gemini `contents`. */
function listRequestTurns({ messages, input, contents }: JsonObject): JsonObject[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  return listObjects(messages ?? contents ?? (isMessages(input) ? input : undefined))
}

/** Returns whether an `input` is a list of messages. That of an embeddings request is a list of texts. */
function isMessages(input: Json): boolean {
  return Array.isArray(input) && input.every(item => isObject(item) && ('role' in item || 'type' in item))
}

function listAnswered(answer: JsonObject | undefined): JsonObject[] {
  if (answer === undefined) return []
  const { choices, candidates, output, message } = answer
  if (Array.isArray(choices)) return listObjects(choices.map(choice => isObject(choice) && choice.message))
  if (Array.isArray(candidates)) {
    return listObjects(candidates.map(candidate => isObject(candidate) && candidate.content))
  }
  if (Array.isArray(output)) return listObjects(output)
  if (isObject(output)) return listObjects([output.message])
  if (isObject(message)) return [message]
  return 'content' in answer ? [answer] : []
}

function toMessage(message: JsonObject): Message {
  const { role, type, content, parts, output, arguments: args, name, tool_calls: calls } = message
  const texts: string[] = []
  const found: { name: string; arguments: string }[] = []
  let otherParts = 0
  const readPart = (part: Json): void => {
    if (typeof part === 'string') return void texts.push(part)
    if (!isObject(part)) return
    const call = part.functionCall ?? part.toolUse ?? (part.type === 'tool_use' ? part : undefined)
    const result =
      part.functionResponse ?? part.toolResult ?? (part.type === 'tool_result' ? part : undefined)
    if (typeof part.text === 'string') texts.push(part.text)
    else if (typeof part.refusal === 'string') texts.push(part.refusal)
    else if (isObject(call))
      found.push({ name: toText(call.name), arguments: toText(call.args ?? call.input) })
    else if (isObject(result)) readContent(result.content ?? result.response)
    else otherParts++
  }
  const readContent = (value: Json): void => {
    if (Array.isArray(value)) for (const part of value) readPart(part)
    else if (typeof value === 'string') texts.push(value)
    else if (value !== undefined && value !== null) texts.push(toText(value))
  }
  readContent(content ?? parts ?? output)
  if (type === 'function_call') found.push({ name: toText(name), arguments: toText(args) })
  for (const call of listObjects(calls)) {
    const { name: callee, arguments: given } = isObject(call.function) ? call.function : call
    found.push({ name: toText(callee), arguments: toText(given) })
  }
  return {
    role: type === 'function_call_output' ? 'tool' : toRole(role),
    text: texts.join('\n'),
    calls: found,
    otherParts,
  }
}

function toRole(role: Json): string {
  if (role === 'model') return 'assistant'
  return typeof role === 'string' ? role : 'assistant'
}

function toContent(system: Json): JsonObject {
  return isObject(system) ? system : { content: system }
}

function toText(value: Json): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
}

function listObjects(value: Json): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function parseObject(text: string | null): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(text ?? '')
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
