/** The requests and answers of the gateway's other calls. */

export interface EmbeddingParams {
  readonly model: string
  /** Up to 2,048 texts. */
  readonly input: string | readonly string[]
  readonly dimensions?: number
  readonly encoding_format?: 'float' | 'base64'
  /** Secret keys only: on whose behalf the request runs. */
  readonly end_user?: string
}

export interface EmbeddingAnswer {
  readonly object: 'list'
  readonly model: string
  readonly provider: string
  readonly data: readonly {
    readonly object: 'embedding'
    readonly index: number
    /** Text where `encoding_format` was `base64`. */
    readonly embedding: readonly number[] | string
  }[]
  readonly usage: { readonly input_tokens: number; readonly total_tokens: number }
  /** Null where the model's price is unknown. */
  readonly cost_usd: number | null
}

/** In OpenAI's shape. Fields of a certain model are passed on. */
export interface ImageParams {
  readonly model: string
  readonly prompt: string
  readonly n?: number
  readonly size?: string
  readonly quality?: string
  readonly response_format?: 'url' | 'b64_json'
  readonly [field: string]: unknown
}

/** A file as React Native's FormData takes it. */
export interface NativeFile {
  readonly uri: string
  readonly name: string
  readonly type: string
}

export interface ImageEditParams {
  readonly model: string
  readonly prompt: string
  readonly image: Blob | NativeFile | readonly (Blob | NativeFile)[]
  readonly mask?: Blob | NativeFile
  readonly [field: string]: unknown
}

export interface ImageAnswer {
  readonly created: number
  readonly data: readonly {
    readonly url?: string
    readonly b64_json?: string
    readonly revised_prompt?: string
  }[]
  readonly usage?: unknown
}

export interface Model {
  readonly id: string
  readonly object: 'model'
  readonly kind: 'model' | 'alias'
  readonly provider: string | null
  readonly display_name: string | null
  readonly context_window: number | null
  readonly max_output_tokens: number | null
  readonly capabilities: readonly string[]
  readonly pricing: {
    readonly input_usd_per_mtok: number | null
    readonly output_usd_per_mtok: number | null
    readonly cached_input_usd_per_mtok: number | null
  } | null
  readonly targets: readonly unknown[] | null
}

export interface FeedbackParams {
  readonly request_id: string
  /** From -1 to 1. */
  readonly score: number
  /** Up to 1,000 characters. */
  readonly comment?: string
  readonly tags?: readonly string[]
}

export interface Feedback {
  readonly request_id: string
  readonly score: number
  readonly comment: string | null
  readonly tags: readonly string[]
  readonly created_at: string
}

/** Returns the fields as a form. A list becomes `name[]`, as OpenAI's API takes several images. */
export function toForm(fields: Readonly<Record<string, unknown>>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue
    if (Array.isArray(value)) for (const item of value) append(form, `${name}[]`, item)
    else append(form, name, value)
  }
  return form
}

function append(form: FormData, name: string, value: unknown): void {
  // React Native's FormData takes an object with a `uri` for a file.
  const isFile = typeof value === 'object' && value !== null && ('uri' in value || value instanceof Blob)
  if (isFile) form.append(name, value as Blob)
  else form.append(name, typeof value === 'object' ? JSON.stringify(value) : String(value))
}
