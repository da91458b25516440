import type { MeterSubject } from '../../core/limits/meter.ts'
import { T } from './make-meter.ts'

interface CountedRequest {
  readonly name: string
  /** Whether a meter of this subject and window counts a request of CALLER that arrived at `at`. */
  readonly isCounted: boolean
  readonly subject: Partial<MeterSubject>
  readonly window: { readonly since?: number; readonly end?: number | null }
  readonly at: number
}

/** Which requests a meter counts, as a table: the rule exists in TypeScript and, to create counters atomically, in Lua. */
export const COUNTED_REQUESTS: readonly CountedRequest[] = [
  { name: 'of its organization', isCounted: true, subject: {}, window: {}, at: T },
  { name: 'of its project', isCounted: true, subject: { projectId: 'project' }, window: {}, at: T },
  { name: 'of another project', isCounted: false, subject: { projectId: 'other' }, window: {}, at: T },
  {
    name: 'of its environment',
    isCounted: true,
    subject: { environmentId: 'environment' },
    window: {},
    at: T,
  },
  {
    name: 'of another environment',
    isCounted: false,
    subject: { environmentId: 'other' },
    window: {},
    at: T,
  },
  { name: 'of its key', isCounted: true, subject: { keyId: 'key' }, window: {}, at: T },
  { name: 'of another key', isCounted: false, subject: { keyId: 'other' }, window: {}, at: T },
  { name: 'of its end user', isCounted: true, subject: { endUserId: 'user' }, window: {}, at: T },
  { name: 'of another end user', isCounted: false, subject: { endUserId: 'other' }, window: {}, at: T },
  {
    name: 'of its key and another end user',
    isCounted: false,
    subject: { keyId: 'key', endUserId: 'other' },
    window: {},
    at: T,
  },
  {
    name: 'at the start of its window',
    isCounted: true,
    subject: {},
    window: { since: T, end: T + 1 },
    at: T,
  },
  { name: 'before its window', isCounted: false, subject: {}, window: { since: T, end: T + 1 }, at: T - 1 },
  {
    name: 'in the last ms of its window',
    isCounted: true,
    subject: {},
    window: { since: T, end: T + 2 },
    at: T + 1,
  },
  {
    name: 'at the end of its window',
    isCounted: false,
    subject: {},
    window: { since: T, end: T + 1 },
    at: T + 1,
  },
  {
    name: 'of a window without end',
    isCounted: true,
    subject: {},
    window: { since: T, end: null },
    at: T + 1e12,
  },
]
