/** A conversation with three parallel calls and their results, in the fields of each server-side format. */

const PDF = 'JVBERi0='
const PDF_URL = `data:application/pdf;base64,${PDF}`
const NAME = 'usual_tool'
const IDS = ['call_1', 'call_2', 'call_3'] as const
/** The results, in order. The second one is an error where the format can say so. */
export const RESULTS = ['alpha', 'beta', 'gamma'] as const

/** What the third result has besides its text: nothing, or a document. */
export interface ResultOptions {
  readonly hasDocument: boolean
}

const inputOf = (at: number): object => ({ n: at + 1 })

function toChat({ hasDocument }: ResultOptions): object {
  const file = { type: 'file', file: { filename: 'a.pdf', file_data: PDF_URL } }
  const calls = IDS.map((id, at) => ({
    id,
    type: 'function',
    function: { name: NAME, arguments: JSON.stringify(inputOf(at)) },
  }))
  return {
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: null, tool_calls: calls },
      ...RESULTS.map((text, at) => ({
        role: 'tool',
        tool_call_id: IDS[at],
        content: hasDocument && at === 2 ? [{ type: 'text', text }, file] : text,
      })),
    ],
  }
}

function toResponses({ hasDocument }: ResultOptions): object {
  const file = { type: 'input_file', filename: 'a.pdf', file_data: PDF_URL }
  return {
    input: [
      { role: 'user', content: 'hi' },
      ...IDS.map((id, at) => ({
        type: 'function_call',
        call_id: id,
        name: NAME,
        arguments: JSON.stringify(inputOf(at)),
      })),
      ...RESULTS.map((text, at) => ({
        type: 'function_call_output',
        call_id: IDS[at],
        output: hasDocument && at === 2 ? [{ type: 'input_text', text }, file] : text,
      })),
    ],
  }
}

function toAnthropic({ hasDocument }: ResultOptions): object {
  const document = {
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: PDF },
  }
  return {
    messages: [
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: IDS.map((id, at) => ({ type: 'tool_use', id, name: NAME, input: inputOf(at) })),
      },
      {
        role: 'user',
        content: RESULTS.map((text, at) => ({
          type: 'tool_result',
          tool_use_id: IDS[at],
          content: [{ type: 'text', text }, ...(hasDocument && at === 2 ? [document] : [])],
          ...(at === 1 ? { is_error: true } : {}),
        })),
      },
    ],
  }
}

function toGemini({ hasDocument }: ResultOptions): object {
  const parts = [{ inlineData: { mimeType: 'application/pdf', data: PDF } }]
  return {
    contents: [
      { role: 'user', parts: [{ text: 'hi' }] },
      {
        role: 'model',
        parts: IDS.map((id, at) => ({ functionCall: { id, name: NAME, args: inputOf(at) } })),
      },
      {
        role: 'user',
        parts: RESULTS.map((text, at) => ({
          functionResponse: {
            id: IDS[at],
            name: NAME,
            response: at === 1 ? { error: text } : { result: text },
            ...(hasDocument && at === 2 ? { parts } : {}),
          },
        })),
      },
    ],
  }
}

function toConverse({ hasDocument }: ResultOptions): object {
  const document = { document: { format: 'pdf', name: 'a', source: { bytes: PDF } } }
  return {
    messages: [
      { role: 'user', content: [{ text: 'hi' }] },
      {
        role: 'assistant',
        content: IDS.map((id, at) => ({ toolUse: { toolUseId: id, name: NAME, input: inputOf(at) } })),
      },
      {
        role: 'user',
        content: RESULTS.map((text, at) => ({
          toolResult: {
            toolUseId: IDS[at],
            content: [{ text }, ...(hasDocument && at === 2 ? [document] : [])],
            ...(at === 1 ? { status: 'error' } : {}),
          },
        })),
      },
    ],
  }
}

function toOllama(): object {
  return {
    messages: [
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: '',
        tool_calls: IDS.map((id, at) => ({ id, function: { name: NAME, arguments: inputOf(at) } })),
      },
      ...RESULTS.map((content, at) => ({
        role: 'tool',
        tool_call_id: IDS[at],
        tool_name: NAME,
        content,
      })),
    ],
  }
}

/** What a format of callers can say of results. */
export interface ResultFormat {
  readonly toFields: (options: ResultOptions) => object
  readonly saysErrors: boolean
  readonly takesDocuments: boolean
}

export const RESULT_FORMATS: Readonly<Record<string, ResultFormat>> = {
  native: { toFields: toChat, saysErrors: false, takesDocuments: true },
  'openai-chat': { toFields: toChat, saysErrors: false, takesDocuments: true },
  'openai-responses': { toFields: toResponses, saysErrors: false, takesDocuments: true },
  'anthropic-messages': { toFields: toAnthropic, saysErrors: true, takesDocuments: true },
  'gemini-content': { toFields: toGemini, saysErrors: true, takesDocuments: true },
  'bedrock-converse': { toFields: toConverse, saysErrors: true, takesDocuments: true },
  'cohere-v2': { toFields: toChat, saysErrors: false, takesDocuments: false },
  'ollama-chat': { toFields: toOllama, saysErrors: false, takesDocuments: false },
}

// biome-ignore lint: JSON of any format
type Body = any

/** A result as a provider received it. */
export interface SentResult {
  readonly id: string
  /** Its text, with everything that the provider gets of it. */
  readonly text: string
  /** Its field or its text says so. */
  readonly isError: boolean
}

/** `isMarked`: the format's own field says that it is an error. */
const toSent = (id: string, content: unknown, isMarked = false): SentResult => {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  return { id, text, isError: isMarked || /\berror\b/i.test(text) }
}

const readToolMessages = ({ messages }: Body): SentResult[] =>
  messages
    .filter(({ role }: Body) => role === 'tool')
    .map(({ tool_call_id: id, content }: Body) => toSent(id, content))

/** Reads the results in the body that a provider of each format received. All stand in one turn where the format has turns. */
export const SENT_RESULTS: Readonly<Record<string, (body: Body) => readonly SentResult[]>> = {
  'openai-chat': readToolMessages,
  'cohere-v2': readToolMessages,
  'ollama-chat': readToolMessages,
  'openai-responses': ({ input }) =>
    input
      .filter(({ type }: Body) => type === 'function_call_output')
      .map(({ call_id: id, output }: Body) => toSent(id, output)),
  'anthropic-messages': ({ messages }) =>
    messages[2].content
      .filter(({ type }: Body) => type === 'tool_result')
      .map(({ tool_use_id: id, content, is_error: isError }: Body) => ({
        ...toSent(id, content, isError === true),
      })),
  'gemini-content': ({ contents }) =>
    contents[2].parts.flatMap(({ functionResponse: result }: Body) =>
      result === undefined ? [] : [toSent(result.id, result.response)],
    ),
  'bedrock-converse': ({ messages }) =>
    messages[2].content.map(({ toolResult: { toolUseId: id, content, status } }: Body) => ({
      ...toSent(id, content, status === 'error'),
    })),
}
