export type TraceSampler =
  | 'always_on'
  | 'always_off'
  | 'traceidratio'
  | 'parentbased_always_on'
  | 'parentbased_always_off'
  | 'parentbased_traceidratio'

/** Where traces go, which requests have one, and how they are sent. */
export interface TracingConfig {
  /** The collector's URL of traces. */
  readonly url: string
  readonly protocol: 'http/protobuf' | 'http/json'
  /** The headers of each export, which may contain secrets. */
  readonly headers: Readonly<Record<string, string>>
  readonly compression: 'gzip' | 'none'
  /** The most that one export may take. */
  readonly timeoutMs: number
  /** The attributes of the resource: text by name, with `service.name`. */
  readonly resource: Readonly<Record<string, string>>
  readonly sampler: TraceSampler
  /** The share of traces that are kept, from 0 to 1, where the sampler has one. */
  readonly ratio: number
  /** Whether callers' `traceparent` is read, and providers get one. */
  readonly propagates: boolean
  readonly batches: {
    /** Spans that wait at most. Further ones are dropped and counted. */
    readonly maxQueueSize: number
    readonly maxBatchSize: number
    readonly delayMs: number
    /** After this time the next batch is sent, whatever became of the one before. */
    readonly timeoutMs: number
  }
}
