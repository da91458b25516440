/** How a provider cuts its stream into events. */
export type Framing = 'sse' | 'aws-event-stream' | 'ndjson'
