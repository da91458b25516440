import { encodeAwsFrame } from '../frames/aws-event-frame.ts'

/** One frame of AWS's event stream with text headers, as a provider sends it. */
export function writeFrame(headers: Readonly<Record<string, string>>, payload: unknown): Buffer {
  return encodeAwsFrame(headers, JSON.stringify(payload))
}

export function writeEvent(type: string, payload: unknown): Buffer {
  return writeFrame(
    { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' },
    payload,
  )
}

export function writeException(type: string, message: string): Buffer {
  return writeFrame(
    { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' },
    { message },
  )
}
