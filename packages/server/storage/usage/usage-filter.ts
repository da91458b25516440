/** Columns of the rollups that usage can be grouped by. */
export type UsageGroup = 'model' | 'provider' | 'key_id' | 'end_user_id' | 'environment_id' | 'project_id'

export interface UsageFilter {
  readonly orgId: string
  /** Absent: the whole organization. */
  readonly below?: { readonly column: 'project_id' | 'environment_id'; readonly id: string }
  /** The first bucket is the one that contains this time. It counts whole. */
  readonly from: Date
  /** The last bucket is the last one that begins before this time. */
  readonly to: Date
  /** What a row sums: hours, days or months of the time zone, or the whole time as one. */
  readonly granularity: 'hour' | 'day' | 'month' | 'total'
  /** Absent: UTC. */
  readonly timeZone?: string
  /**
   * False: days are those of the time zone that the organization had when the request was stored, and months and totals are
   * sums of them. True: all are summed from quarters of an hour, which reads up to 96 times as many rows.
   */
  readonly isByQuarter?: boolean
  readonly groups: readonly UsageGroup[]
  /** Only requests with this value. */
  readonly only?: Readonly<Partial<Record<UsageGroup, string>>>
  /** The number of groups with rows of their own: those that cost most in the whole time. The others share one. */
  readonly top?: number
}
